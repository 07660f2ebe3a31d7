// A child process of a long work that is done in steps: it is asked over IPC and answers each step once.
//
//   STEP-CHILD-1  A failure, an ended signal and the death of the process reject whatever is waited for, then and later. The process is ended.
//   STEP-CHILD-2  `end` resolves once the process is gone: nothing of it holds a file any more.
import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { ErrorCode } from '../../shared/error-codes.ts';
import { endChild } from '../../shared/process/end-child.ts';
import { coerceError, SvcError } from '../../shared/svc-error.ts';
import { type Clock, systemClock, type Timer } from '../../shared/time/clock.ts';

/** What a child tells of a failure. */
export interface FailedStep {
  readonly kind: 'failed';
  readonly code: string;
  readonly message: string;
  readonly hint: string | undefined;
  readonly details?: Readonly<Record<string, unknown>>;
}

export const failedStep = (error: unknown): FailedStep => {
  const { code, message, hint, details } = coerceError(error);
  return { kind: 'failed', code, message, hint, details };
};

export const errorOf = ({ code, message, hint, details }: FailedStep): SvcError =>
  new SvcError(code as ErrorCode, message, {
    ...(details === undefined ? {} : { details }),
    ...(hint === undefined ? {} : { hint }),
  });

/** Of a process that reads the database. `what` as in "the process that copies". */
export const diedOf =
  (what: string) =>
  (how: string): SvcError =>
    how.startsWith('SIGBUS') // a page that the disk cannot read ends a process that maps the file
      ? new SvcError('storage_unavailable', 'the disk could not read a page of the database, or of its copy', {
          hint: 'check the disk (dmesg); `svc doctor` checks the database',
        })
      : new SvcError('internal', `the process ${what} ended: ${how}`, {
          hint: 'nothing is harmed: make it again, and look for what ends processes (memory, dmesg)',
        });

export interface StepChildOptions<Answer extends { readonly kind: string }> {
  /** Its program. */
  readonly entry: URL;
  /** The process that has ended, as an error. */
  readonly died: (how: string) => SvcError;
  /** No message came for so long. */
  readonly still?: ((ms: number) => SvcError) | undefined;
  /** Messages that nobody waits for. */
  readonly onMessage?: ((message: Answer) => void) | undefined;
  readonly clock?: Clock | undefined;
}

export class StepChild<Question extends object, Answer extends { readonly kind: string }> {
  readonly #options: StepChildOptions<Answer>;
  readonly #process: ChildProcess;
  readonly #ended: Promise<void>;
  readonly #arrived = new Map<string, Answer>();
  readonly #waiting = new Map<string, { resolve(answer: Answer): void; reject(error: unknown): void }>();
  /** The signals that it was given outlive it. */
  readonly #over = new AbortController();
  #failure: Error | undefined;
  #stderr = '';
  #stillMs: number | undefined;
  #timer: Timer | undefined;

  constructor(options: StepChildOptions<Answer>) {
    this.#options = options;
    const { entry, died } = options;
    this.#process = fork(fileURLToPath(entry), [], {
      execArgv: entry.pathname.endsWith('.ts') ? ['--import', import.meta.resolve('tsx')] : [],
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
    this.#process.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr = (this.#stderr + text).slice(-2_000);
    });
    this.#process.on('message', (message: Answer | FailedStep) => this.#take(message));
    this.#ended = new Promise((resolve) => {
      this.#process.on('error', (error) => {
        this.fail(died(error.message));
        if (this.#process.pid === undefined) resolve();
      });
      this.#process.on('close', (code, signal) => {
        this.fail(died(`${signal ?? `exit ${code}`} ${this.#stderr.trim()}`.trim()));
        resolve();
      });
    });
  }

  get pid(): number | undefined {
    return this.#process.pid;
  }

  endOn(signal: AbortSignal | undefined): void {
    const end = (): void => this.fail(signal?.reason as Error);
    if (signal?.aborted === true) end();
    signal?.addEventListener('abort', end, { once: true, signal: this.#over.signal });
  }

  /** `stillMs`: the longest time without a message until the answer. */
  ask<K extends Answer['kind']>(message: Question, kind: K, stillMs?: number): Promise<Extract<Answer, { kind: K }>> {
    this.#stillMs = stillMs;
    this.#watch();
    this.#process.send(message, () => {}); // if sending fails, the process has ended and `close` reports it
    return this.answer(kind);
  }

  answer<K extends Answer['kind']>(kind: K): Promise<Extract<Answer, { kind: K }>> {
    return new Promise((resolve, reject) => {
      const arrived = this.#arrived.get(kind);
      if (this.#failure !== undefined) reject(this.#failure);
      else if (arrived !== undefined) resolve(arrived as Extract<Answer, { kind: K }>);
      else this.#waiting.set(kind, { resolve: resolve as (answer: Answer) => void, reject });
    });
  }

  fail(error: Error): void {
    this.#failure ??= error;
    endChild(this.#process);
    for (const { reject } of this.#waiting.values()) reject(this.#failure);
    this.#waiting.clear();
  }

  /** Resolves once the process has ended. */
  async end(): Promise<void> {
    this.#timer?.cancel();
    endChild(this.#process);
    await this.#ended;
    this.#over.abort();
  }

  #take(message: Answer | FailedStep): void {
    if (isFailed(message)) return this.fail(errorOf(message));
    const waiting = this.#waiting.get(message.kind);
    if (waiting !== undefined) this.#stillMs = undefined;
    this.#watch();
    this.#options.onMessage?.(message);
    this.#arrived.set(message.kind, message);
    this.#waiting.delete(message.kind);
    waiting?.resolve(message);
  }

  #watch(): void {
    this.#timer?.cancel();
    const { clock = systemClock, still } = this.#options;
    const ms = this.#stillMs;
    if (ms !== undefined && still !== undefined) this.#timer = clock.after(ms, () => this.fail(still(ms)));
  }
}

const isFailed = (message: { readonly kind: string }): message is FailedStep => message.kind === 'failed';
