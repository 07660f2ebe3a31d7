// A log file that is written by its owner: whole lines, each at once, by several processes into one file. `node:fs` alone.
//
//   L1  A text is one append: it is in the file when `write` returns, and never mixed with what another process appends.
//   L2  Nothing throws. What a full disk, a missing folder or too few descriptors keep out waits, up to 1 MiB; more is counted.
//   L3  A text that went in by half (the last room of a disk) is taken out again, so that the file holds whole lines alone.
//   L4  What waited lands first, then `onRecovered` says what was lost and from when to when, then what comes next.
//   L5  `reopen` keeps the old file until the new one is open: nothing is lost where that fails, and it is tried again.
//   L6  What lies under the name has to be a file or a character device: a FIFO may hold up its writer. Else, and where the open file was removed,
//       texts wait as on a full disk.

import { closeSync, constants, fstatSync, ftruncateSync, openSync, readSync, statSync, writeSync } from 'node:fs';
import type { LogOutage } from '../api/ipc.ts';

export interface LogSinkOptions {
  /** A path, opened for appending with 0600, or an open descriptor of a file. */
  readonly destination: string | number;
  readonly onRecovered: (outage: LogOutage) => void;
  /** How often an outage is looked at, without a next line. Default 500. */
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
/** A FIFO that lies under the name is not waited for. */
const APPENDING = constants.O_APPEND | constants.O_CREAT | constants.O_RDWR | constants.O_NONBLOCK | constants.O_NOCTTY;

export class LogSink {
  readonly #path: string | undefined;
  readonly #onRecovered: (outage: LogOutage) => void;
  readonly #retryMs: number;
  #descriptor: number | undefined;
  #isReopenDue = false;
  /** By the timer, and `follow` has not said so yet. */
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

  /** Whole lines, each with its line feed. Bytes are the caller's again afterwards. */
  write(text: string | Buffer): void {
    // A try that fails costs more than a line: a burst does not try with each.
    const isHopeless = this.#outage !== undefined && performance.now() - this.#triedAt < TRY_AGAIN_MS;
    if (isHopeless || (this.#outage !== undefined && !this.#recover())) this.#keep(text);
    else if (!this.#put(text)) this.#keep(text);
  }

  /** Writes to the file that has the name now. */
  reopen(): void {
    if (this.#path === undefined) return;
    const next = this.#open();
    this.#isReopenDue = next === undefined;
    if (next === undefined) return this.#retryLater();
    const former = this.#descriptor;
    this.#descriptor = next;
    if (former !== undefined) close(former);
  }

  /** Opens the file anew where its name is gone or is that of another file by now; true when it was, by this call or late (L5). */
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
      return false; // the folder cannot be looked at: the file that is open stays
    }
  }

  /** Tries once to get in what waits, for the last moment of a process; gives what is lost with it. */
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

  /** False when nothing of the text is in the file (L1, L3). */
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

  /** The open file has no name any more, and none can be opened under it: nobody would ever read the text there (L6). */
  #isNowhere(descriptor: number): boolean {
    try {
      return this.#isReopenDue && fstatSync(descriptor).nlink === 0;
    } catch {
      return false; // the write says why
    }
  }

  /** The rest of a text that went in by half and could not be taken out goes in before all else. */
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

  /** True when all that waited is in the file, and the outage was told (L4). */
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
    // A disk that fails tells of lost writes here, and nobody could write them again
  }
}

/** Removes what was just appended, if it still is the end of the file. */
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
