// Copies the database of a running host, or of a stopped one, as it was at one moment. A child process copies (copy-child.ts).
//
//   COPY-1  All writing stands still while the snapshot begins, and goes on while it is copied.
//   COPY-2  The WAL is pinned from before the snapshot until it is copied. If the pin is lost, the copy is given up.
//   COPY-3  Once `copyDatabase` settles its child has ended, so nothing keeps the snapshot.
//   COPY-4  A failed copy leaves at most half a target, and its rollback journal. The caller removes the folder.
import { type ChildProcess, fork } from 'node:child_process';
import { statfsSync, statSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ErrorCode } from '../../../shared/error-codes.ts';
import { endChild } from '../../../shared/process/end-child.ts';
import { SvcError } from '../../../shared/svc-error.ts';
import { type Clock, systemClock, type Timer } from '../../../shared/time/clock.ts';
import type { LogPin, SnapshotWriter } from '../../database/unit.ts';
import type { CopiedEvents, FromCopy, ToCopy } from './copy-child.ts';

export interface CopyRequest {
  readonly file: string;
  /** A file that does not exist yet. */
  readonly target: string;
  /** Of the writer. More that is read inside is of the same moment. Left out: nobody writes. */
  readonly hold?: SnapshotWriter['hold'] | undefined;
  readonly pin?: (() => Promise<LogPin>) | undefined;
  readonly onProgress?: ((progress: CopyProgress) => void) | undefined;
  /** Called with the process that copies. */
  readonly onStart?: ((pid: number) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly clock?: Clock;
}

export interface CopyProgress {
  readonly copiedBytes: number;
  readonly totalBytes: number;
}

export interface DatabaseCopy {
  readonly bytes: number;
  readonly ms: number;
  /** How long nothing was committed, with the wait for the groups that were under way. */
  readonly holdMs: number;
  readonly events: CopiedEvents;
}

/** Of a copy that makes no progress; 64 MiB are synced in this time on every disk that a host can use. */
const STILL_MS = 120_000;

/**
 * Throws SvcError: `storage_unavailable` without room or after a failed write, `refused` without a WAL, `timeout`, `overloaded` if the WAL grew too
 * long, `database_corrupt`, `internal` if the process was killed. An aborted signal throws its reason.
 */
export async function copyDatabase(request: CopyRequest): Promise<DatabaseCopy> {
  const { file, target, hold = (work) => work(NEVER), signal } = request;
  const startedAt = performance.now();
  signal?.throwIfAborted();
  refuseWithoutRoom(file, target);
  const child = new CopyChild(request);
  let pin: LogPin | undefined;
  try {
    child.endOn(signal);
    pin = await request.pin?.();
    child.endOn(pin?.lost);
    await child.ask({ kind: 'open', file, target, isWritten: request.hold !== undefined }, 'opened', STILL_MS);
    const heldAt = performance.now();
    const { events } = await hold(() => child.ask({ kind: 'begin' }, 'begun'));
    const holdMs = performance.now() - heldAt;
    await child.ask({ kind: 'copy' }, 'copied', STILL_MS);
    await pin?.release();
    const { bytes } = await child.answer('done');
    return { bytes, ms: performance.now() - startedAt, holdMs, events };
  } finally {
    await child.end();
    await pin?.release();
  }
}

const NEVER = new AbortController().signal;

/** The WAL is part of the copy, and the rest of the disk is not filled to the last byte. */
function refuseWithoutRoom(file: string, target: string): void {
  const bytes = sizeOf(file) + sizeOf(`${file}-wal`);
  const needed = Math.ceil(bytes * 1.1);
  const { bavail, bsize } = statfsSync(dirname(target));
  if (bavail * bsize >= needed) return;
  const mib = (count: number): string => `${Math.ceil(count / 1_048_576).toLocaleString('en')} MiB`;
  throw new SvcError(
    'storage_unavailable',
    `there is no room for a copy of ${basename(file)}: ${mib(needed)} are needed, ${mib(bavail * bsize)} are free`,
    {
      hint: 'free disk space where .svc/checkpoints/ lies, or remove checkpoints: svc checkpoint prune',
    },
  );
}

const sizeOf = (file: string): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0;

type Kind = Exclude<FromCopy['kind'], 'failed' | 'progress'>;
type Answer<K extends Kind> = Extract<FromCopy, { kind: K }>;

class CopyChild {
  readonly #request: CopyRequest;
  readonly #process: ChildProcess;
  readonly #ended: Promise<void>;
  readonly #arrived = new Map<Kind, FromCopy>();
  /** The signals that it was given outlive it. */
  readonly #over = new AbortController();
  #waiting: { readonly kind: Kind; resolve(answer: FromCopy): void; reject(error: unknown): void } | undefined;
  #failure: Error | undefined;
  #stderr = '';
  #stillMs: number | undefined;
  #timer: Timer | undefined;

  constructor(request: CopyRequest) {
    this.#request = request;
    this.#process = start();
    this.#process.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr = (this.#stderr + text).slice(-2_000);
    });
    this.#process.on('message', (message: FromCopy) => this.#take(message));
    this.#ended = new Promise((resolve) => {
      this.#process.on('error', (error) => {
        this.#fail(diedOf(error.message));
        if (this.#process.pid === undefined) resolve();
      });
      this.#process.on('close', (code, signal) => {
        this.#fail(diedOf(`${signal ?? `exit ${code}`} ${this.#stderr.trim()}`.trim()));
        resolve();
      });
    });
    if (this.#process.pid !== undefined) request.onStart?.(this.#process.pid);
  }

  endOn(signal: AbortSignal | undefined): void {
    if (signal?.aborted === true) this.#fail(signal.reason as Error);
    signal?.addEventListener('abort', () => this.#fail(signal.reason as Error), {
      once: true,
      signal: this.#over.signal,
    });
  }

  /** `stillMs`: the longest time without a message. */
  ask<K extends Kind>(message: ToCopy, kind: K, stillMs?: number): Promise<Answer<K>> {
    this.#stillMs = stillMs;
    this.#watch();
    this.#process.send(message, () => {}); // if sending fails, the process has ended and `close` reports it
    return this.answer(kind);
  }

  answer<K extends Kind>(kind: K): Promise<Answer<K>> {
    return new Promise((resolve, reject) => {
      const arrived = this.#arrived.get(kind);
      if (this.#failure !== undefined) reject(this.#failure);
      else if (arrived !== undefined) resolve(arrived as Answer<K>);
      else this.#waiting = { kind, resolve: resolve as (answer: FromCopy) => void, reject };
    });
  }

  /** Resolves once the process has ended. */
  async end(): Promise<void> {
    this.#timer?.cancel();
    endChild(this.#process);
    await this.#ended;
    this.#over.abort();
  }

  #take(message: FromCopy): void {
    if (message.kind === 'failed') {
      const { code, message: text, hint } = message;
      return this.#fail(new SvcError(code as ErrorCode, text, hint === undefined ? {} : { hint }));
    }
    this.#watch();
    if (message.kind === 'progress') return this.#request.onProgress?.(message);
    if (message.kind === 'copied') this.#stillMs = undefined; // the last sync of a large copy may take long, and tells nothing
    this.#timer?.cancel();
    this.#arrived.set(message.kind, message);
    if (this.#waiting?.kind === message.kind) this.#waiting.resolve(message);
  }

  #watch(): void {
    this.#timer?.cancel();
    const { clock = systemClock } = this.#request;
    if (this.#stillMs !== undefined) this.#timer = clock.after(this.#stillMs, () => this.#fail(still()));
  }

  #fail(error: Error): void {
    this.#failure ??= error;
    endChild(this.#process);
    this.#waiting?.reject(this.#failure);
  }
}

const still = (): SvcError =>
  new SvcError('timeout', `the copy of the database made no progress for ${STILL_MS / 1_000} s`, {
    hint: 'check the disk that the copy is written to (dmesg)',
  });

const diedOf = (how: string): SvcError =>
  new SvcError('internal', `the process that copies the database ended: ${how}`, {
    hint: 'the database is unharmed: make the copy again, and look for what ends processes (memory, dmesg)',
  });

function start(): ChildProcess {
  const here = import.meta.url;
  const fromSource = here.endsWith('.ts');
  return fork(fileURLToPath(new URL(fromSource ? './copy-child.ts' : './copy-child.js', here)), [], {
    execArgv: fromSource ? ['--import', import.meta.resolve('tsx')] : [],
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
}
