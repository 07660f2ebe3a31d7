// Writes a log to a pipe or terminal. Writes are asynchronous, so that a slow reader does not block the event loop.
//
//   LOG-PIPE-1  Whole lines go out in order, one write at a time. Up to 1 MiB waits for a slow reader; further lines are dropped and counted.
//   LOG-PIPE-2  A pipe whose reader is gone ends nothing. Its lines are counted as lost.
import { write, writeSync } from 'node:fs';
import type { LogOutage } from '../api/ipc.ts';

export interface LogPipeOptions {
  readonly destination: number;
  readonly onRecovered: (outage: LogOutage) => void;
}

const WAITING_BYTES = 1024 * 1024;
const WRITE_CHARACTERS = 64 * 1024;
const BUSY_MS = 20;
const LAST_MS = 200;

export class LogPipe {
  readonly #descriptor: number;
  readonly #onRecovered: (outage: LogOutage) => void;
  #waiting: string[] = [];
  #waitingBytes = 0;
  /** Bytes being written, or the rest of a partial write. */
  #current: Buffer | undefined;
  #isWriting = false;
  #lost: { lines: number; from: string; to: string; reason: string } | undefined;

  constructor({ destination, onRecovered }: LogPipeOptions) {
    this.#descriptor = destination;
    this.#onRecovered = onRecovered;
  }

  write(lines: string | Buffer): void {
    const text = String(lines);
    const bytes = Buffer.byteLength(text);
    if (this.#waitingBytes + bytes > WAITING_BYTES) return this.#lose(text, 'the reader is too slow');
    this.#waiting.push(text);
    this.#waitingBytes += bytes;
    if (!this.#isWriting) this.#next();
  }

  /** Writes what it can before the process ends. A pipe with a stalled reader is left alone. */
  flush(): void {
    const endsAt = performance.now() + LAST_MS;
    if (this.#isWriting) return;
    for (let bytes = this.#take(); bytes !== undefined && performance.now() < endsAt; bytes = this.#take()) {
      try {
        this.#taken(writeSync(this.#descriptor, bytes));
      } catch (error) {
        if (!isBusy(error)) return;
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, BUSY_MS);
      }
    }
  }

  /** Resolves when no line waits any more. */
  async drained(): Promise<void> {
    while (this.#isWriting) await new Promise((resolve) => setTimeout(resolve, 1));
  }

  #next(): void {
    const bytes = this.#take();
    this.#isWriting = bytes !== undefined;
    if (bytes === undefined) return;
    write(this.#descriptor, bytes, (error, written) => {
      if (error === null) {
        this.#taken(written);
        this.#tell();
      } else if (isBusy(error)) {
        setTimeout(() => this.#next(), BUSY_MS);
        return;
      } else this.#giveUp(error);
      this.#next();
    });
  }

  /** The next bytes to write: as many whole lines as fit into one write. */
  #take(): Buffer | undefined {
    if (this.#current !== undefined || this.#waiting.length === 0) return this.#current;
    let text = '';
    let taken = 0;
    for (const line of this.#waiting) {
      if (taken > 0 && text.length + line.length > WRITE_CHARACTERS) break;
      text += line;
      taken += 1;
    }
    this.#waiting.splice(0, taken);
    this.#current = Buffer.from(text);
    return this.#current;
  }

  #taken(written: number): void {
    const left = this.#current?.subarray(written);
    this.#waitingBytes -= written;
    this.#current = left === undefined || left.length === 0 ? undefined : left;
  }

  #giveUp(error: NodeJS.ErrnoException): void {
    const text = (this.#current?.toString() ?? '') + this.#waiting.join('');
    this.#current = undefined;
    this.#waiting = [];
    this.#waitingBytes = 0;
    this.#lose(text, error.code ?? error.message);
  }

  #lose(text: string, reason: string): void {
    const now = new Date().toISOString();
    this.#lost ??= { lines: 0, from: now, to: now, reason };
    this.#lost.to = now;
    this.#lost.lines += text.split('\n').length - 1;
  }

  #tell(): void {
    const lost = this.#lost;
    if (lost === undefined || this.#waiting.length > 0) return;
    this.#lost = undefined;
    const { lines, from, to, reason } = lost;
    this.#onRecovered({ lostLines: lines, lateLines: 0, from, to, reason });
  }
}

const isBusy = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && (error.code === 'EAGAIN' || error.code === 'EBUSY');
