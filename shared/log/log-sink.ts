// A log file that several processes append to, whole lines at a time. Uses `node:fs` only.
//
//   LOG-SINK-1  A text is one append. It is in the file when `write` returns, and never mixes with another process's lines.
//   LOG-SINK-2  Nothing throws. If a disk is full, a folder missing or no descriptor free, up to 1 MiB waits. Further lines are dropped and counted.
//   LOG-SINK-3  A text that was written in part is removed again, so the file holds whole lines only.
//   LOG-SINK-4  After an outage the waiting lines are written first. `onRecovered` then reports the lost lines and the period.
//   LOG-SINK-5  `reopen` keeps the old file until the new one is open. A failed reopen loses nothing and is repeated.
//   LOG-SINK-6  The path must be a file or a character device, because a FIFO may block its writer. For any other kind, lines wait as on a full
//               disk.
//               They also wait if the open file was removed.

import { closeSync, constants, fstatSync, ftruncateSync, openSync, readSync, statSync, writeSync } from 'node:fs';
import type { LogOutage } from '../api/ipc.ts';

export interface LogSinkOptions {
  /** A path, opened for appending with mode 0600, or an open file descriptor. */
  readonly destination: string | number;
  readonly onRecovered: (outage: LogOutage) => void;
  /** Milliseconds between retries during an outage. Default 500. */
  readonly retryMs?: number;
}

interface Outage {
  lost: number;
  late: number;
  readonly from: string;
  to: string;
  readonly reason: string;
}

const TRY_AGAIN_MS = 10;
const WAITING_BYTES = 1024 * 1024;
/** O_NONBLOCK: opening a FIFO must not wait for a reader. */
const APPENDING = constants.O_APPEND | constants.O_CREAT | constants.O_RDWR | constants.O_NONBLOCK | constants.O_NOCTTY;

export class LogSink {
  readonly #path: string | undefined;
  readonly #onRecovered: (outage: LogOutage) => void;
  readonly #retryMs: number;
  #descriptor: number | undefined;
  #isReopenDue = false;
  /** The timer reopened the file, and `follow` has not reported it yet. */
  #isOpenedLate = false;
  #waiting: string[] = [];
  #rest: Buffer | undefined;
  #waitingBytes = 0;
  #outage: Outage | undefined;
  #reason = '';
  #triedAt = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor({ destination, onRecovered, retryMs = 500 }: LogSinkOptions) {
    this.#path = typeof destination === 'string' ? destination : undefined;
    this.#onRecovered = onRecovered;
    this.#retryMs = retryMs;
    this.#descriptor = typeof destination === 'number' ? destination : this.#open();
  }

  /** Undefined while the file cannot be opened. */
  get descriptor(): number | undefined {
    return this.#descriptor;
  }

  /** Takes whole lines, each with its line feed. The caller may reuse the buffer afterwards. */
  write(text: string | Buffer): void {
    // A failed attempt costs more than a line, so a burst of lines does not retry with each.
    const isHopeless = this.#outage !== undefined && performance.now() - this.#triedAt < TRY_AGAIN_MS;
    if (isHopeless || (this.#outage !== undefined && !this.#recover())) this.#keep(text);
    else if (!this.#put(text)) this.#keep(text);
  }

  /** Opens the file that has the name now. */
  reopen(): void {
    if (this.#path === undefined) return;
    const next = this.#open();
    this.#isReopenDue = next === undefined;
    if (next === undefined) return this.#retryLater();
    const former = this.#descriptor;
    this.#descriptor = next;
    if (former !== undefined) close(former);
  }

  /** Reopens the file if it was renamed, replaced or removed. Returns true if it was reopened, now or by an earlier retry. */
  follow(): boolean {
    const isElsewhere = this.#isElsewhere();
    if (isElsewhere) this.reopen();
    const isNew = this.#isOpenedLate || (isElsewhere && !this.#isReopenDue);
    this.#isOpenedLate = false;
    return isNew;
  }

  #isElsewhere(): boolean {
    if (this.#path === undefined) return false;
    try {
      const named = statSync(this.#path, { throwIfNoEntry: false });
      return named === undefined || this.#descriptor === undefined || named.ino !== fstatSync(this.#descriptor).ino;
    } catch {
      return false; // the folder cannot be read: the open file stays
    }
  }

  /** Tries once to write what waits, before the process ends. Returns what is lost. */
  flush(): LogOutage | undefined {
    if (this.#outage === undefined || this.#recover() || this.#outage === undefined) return undefined;
    const { lost, late, from, reason } = this.#outage;
    const waiting = this.#waiting.reduce((lines, text) => lines + countLines(text), 0);
    return { lostLines: lost + waiting, lateLines: late - waiting, from, to: new Date().toISOString(), reason };
  }

  #open(): number | undefined {
    if (this.#path === undefined) return undefined;
    try {
      const descriptor = openSync(this.#path, APPENDING, 0o600);
      const stats = fstatSync(descriptor);
      if (stats.isFile() || stats.isCharacterDevice()) return descriptor;
      close(descriptor);
      this.#reason = 'the log is not a regular file';
    } catch (error) {
      this.#reason = codeOf(error);
    }
    return undefined;
  }

  /** Returns false if no part of the text is in the file. */
  #put(text: string | Buffer): boolean {
    this.#descriptor ??= this.#open();
    const descriptor = this.#descriptor;
    if (descriptor === undefined || this.#isNowhere(descriptor) || !this.#putRest(descriptor)) return false;
    const length = Buffer.byteLength(text);
    let written = 0;
    try {
      written = typeof text === 'string' ? writeSync(descriptor, text) : writeSync(descriptor, text);
      if (written === length) return true;
    } catch (error) {
      this.#reason = codeOf(error);
      return false;
    }
    this.#rest = Buffer.from(text).subarray(written);
    if (this.#putRest(descriptor)) return true;
    const half = Buffer.from(text).subarray(0, length - this.#rest.length);
    this.#begin();
    if (this.#path === undefined || !takeBack(descriptor, half)) return true;
    this.#rest = undefined;
    return false;
  }

  /** The open file was removed and no new one can be opened. A line written to it could never be read. */
  #isNowhere(descriptor: number): boolean {
    try {
      return this.#isReopenDue && fstatSync(descriptor).nlink === 0;
    } catch {
      return false; // the write reports the reason
    }
  }

  /** Writes the rest of a partial line that could not be removed, before any other text. */
  #putRest(descriptor: number): boolean {
    try {
      while (this.#rest !== undefined) {
        const left = this.#rest.subarray(writeSync(descriptor, this.#rest));
        this.#rest = left.length === 0 ? undefined : left;
      }
      return true;
    } catch (error) {
      this.#reason = codeOf(error);
      return false;
    }
  }

  #begin(): Outage {
    const now = new Date().toISOString();
    this.#outage ??= { lost: 0, late: 0, from: now, to: now, reason: this.#reason };
    this.#outage.to = now;
    this.#retryLater();
    return this.#outage;
  }

  #keep(text: string | Buffer): void {
    const outage = this.#begin();
    const bytes = Buffer.byteLength(text);
    if (this.#waitingBytes + bytes > WAITING_BYTES) {
      outage.lost += countLines(text);
      return;
    }
    outage.late += countLines(text);
    this.#waiting.push(String(text));
    this.#waitingBytes += bytes;
  }

  /** Returns true if all waiting lines are in the file and the outage was reported. */
  #recover(): boolean {
    const outage = this.#outage;
    if (outage === undefined) return true;
    const landed = this.#waiting.findIndex((text) => !this.#put(text));
    const gone = this.#waiting.splice(0, landed === -1 ? this.#waiting.length : landed);
    for (const text of gone) this.#waitingBytes -= Buffer.byteLength(text);
    this.#triedAt = performance.now();
    if (this.#waiting.length > 0 || this.#descriptor === undefined || !this.#putRest(this.#descriptor)) return false;
    this.#outage = undefined;
    const { lost, late, from, to, reason } = outage;
    this.#onRecovered({ lostLines: lost, lateLines: late, from, to, reason });
    return this.#outage === undefined;
  }

  #retryLater(): void {
    this.#timer ??= setInterval(() => {
      if (this.#isReopenDue) {
        this.reopen();
        this.#isOpenedLate = !this.#isReopenDue;
      }
      if (this.#outage !== undefined) this.#recover();
      if (this.#outage !== undefined || this.#isReopenDue) return;
      clearInterval(this.#timer);
      this.#timer = undefined;
    }, this.#retryMs).unref();
  }
}

export const outageMessage = ({ lostLines }: LogOutage): string =>
  lostLines > 0 ? 'log lines were lost' : 'log lines came late';

function close(descriptor: number): void {
  try {
    closeSync(descriptor);
  } catch {
    // A failing disk reports lost writes here, too late to repeat them.
  }
}

/** Removes the last append if it is still the end of the file. */
function takeBack(descriptor: number, half: Buffer): boolean {
  try {
    const { size } = fstatSync(descriptor);
    const end = Buffer.alloc(half.length);
    readSync(descriptor, end, 0, end.length, size - end.length);
    if (!end.equals(half)) return false;
    ftruncateSync(descriptor, size - half.length);
    return true;
  } catch {
    return false;
  }
}

function countLines(bytes: string | Buffer): number {
  const text = String(bytes);
  let lines = 0;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) lines += 1;
  return lines;
}

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : String(error);
