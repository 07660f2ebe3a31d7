// A checkpoint of the running host: the database is copied and the rest is completed in processes of their own; the writer is held for a moment alone.
import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { ErrorCode } from '../../../shared/error-codes.ts';
import { endChild } from '../../../shared/process/end-child.ts';
import { coerceError, SvcError } from '../../../shared/svc-error.ts';
import type { SnapshotWriter } from '../../database/unit.ts';
import { copyDatabase } from './copy-database.ts';
import type { Finished, FinishOptions } from './finish-checkpoint.ts';
import type { FromFinish } from './finish-child.ts';
import { type CopyStep, type Made, type MakeOptions, makeCheckpoint } from './make-checkpoint.ts';

export interface RunningOptions extends Omit<MakeOptions, 'copy' | 'finish'> {
  readonly writer: SnapshotWriter;
  readonly maxLogBytes: number;
  /** Gives the checkpoint up. */
  readonly signal: AbortSignal;
}

/** Throws as `makeCheckpoint`, `overloaded` if the log grew too long, and the reason of the signal. */
export async function makeRunning({ writer, maxLogBytes, signal, ...options }: RunningOptions): Promise<Made> {
  const copy = ({ target, atBarrier, onProgress }: CopyStep) =>
    copyDatabase({
      file: options.database,
      target,
      hold: (work) =>
        writer.hold(async (ended) => {
          const [answer] = await Promise.all([work(ended), atBarrier()]);
          return answer;
        }),
      pin: () => writer.pinLog({ maxBytes: maxLogBytes }),
      onProgress: ({ copiedBytes, totalBytes }) => onProgress(copiedBytes, totalBytes),
      signal,
    });
  const child = new FinishChild(); // its start goes on beside the copy
  // Ended before the folder is removed and the lock released: it writes into that folder.
  const finish = async (finishing: FinishOptions): Promise<Finished> => {
    try {
      return await child.finish(finishing, signal);
    } finally {
      await child.end();
    }
  };
  try {
    return await makeCheckpoint({ ...options, copy, finish });
  } finally {
    await child.end();
  }
}

class FinishChild {
  readonly #process: ChildProcess;
  readonly #died: Promise<never>;
  readonly #ended: Promise<void>;

  constructor() {
    const here = import.meta.url;
    const fromSource = here.endsWith('.ts');
    this.#process = fork(fileURLToPath(new URL(fromSource ? './finish-child.ts' : './finish-child.js', here)), [], {
      execArgv: fromSource ? ['--import', import.meta.resolve('tsx')] : [],
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
    let stderr = '';
    this.#process.stderr?.setEncoding('utf8').on('data', (text: string) => {
      stderr = (stderr + text).slice(-2_000);
    });
    this.#died = new Promise((_, reject) => {
      this.#process.on('error', (error) => reject(died(error.message)));
      this.#process.on('close', (code, by) => reject(died(`${by ?? `exit ${code}`} ${stderr.trim()}`.trim())));
    });
    this.#died.catch(() => {}); // told to whoever asks
    this.#ended = new Promise((resolve) => {
      this.#process.on('error', () => this.#process.pid === undefined && resolve());
      this.#process.on('close', () => resolve());
    });
  }

  finish(options: FinishOptions, signal: AbortSignal): Promise<Finished> {
    const over = new AbortController(); // the signal outlives this
    const work = new Promise<Finished>((resolve, reject) => {
      const giveUp = (): void => reject(coerceError(signal.reason));
      if (signal.aborted) giveUp();
      signal.addEventListener('abort', giveUp, { once: true, signal: over.signal });
      this.#process.on('message', (message: FromFinish) => {
        if (message.kind === 'done') return resolve(message.finished);
        const { code, message: text, hint, details } = message;
        reject(new SvcError(code as ErrorCode, text, { details, ...(hint === undefined ? {} : { hint }) }));
      });
      this.#process.send(options, () => {}); // if sending fails, the process has ended and `close` reports it
    });
    return Promise.race([work, this.#died]).finally(() => over.abort());
  }

  /** Resolves once the process has ended. */
  async end(): Promise<void> {
    endChild(this.#process);
    await this.#ended;
  }
}

const died = (how: string): SvcError =>
  new SvcError('internal', `the process that completes the checkpoint ended: ${how}`, {
    hint: 'nothing is harmed: make it again, and look for what ends processes (memory, dmesg)',
  });
