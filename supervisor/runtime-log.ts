// Owns .svc/runtime.log: opens it for the worker, adds the supervisor's own lines, rotates by size.
//
//   T1  Everybody writes with O_APPEND, whole lines with one write, so lines of supervisor and worker never tear.
//   T2  Rotation renames and opens anew; the worker's logger follows by message, its descriptors 1 and 2 at its next start.
//   T3  A file that the worker still has as descriptor 1 and 2 is not deleted but set aside until that worker has ended: it may hold its last words.
//   T4  A log that takes nothing (full disk, folder gone) stops nothing.
import { closeSync, constants, fstatSync, openSync, readSync, renameSync, rmSync, statSync, writeSync } from 'node:fs';

export interface RuntimeLogOptions {
  readonly path: string;
  /** On each line of the supervisor's own. */
  readonly base: Readonly<Record<string, unknown>>;
}

export interface LogLimits {
  readonly maxBytes: number;
  readonly maxFiles: number;
}

type Level = 'info' | 'warn' | 'error';

const LAST_BYTES = 64 * 1024;

export class RuntimeLog {
  readonly #path: string;
  readonly #base: Readonly<Record<string, unknown>>;
  #descriptor: number | undefined;
  #workerInode: number | undefined;

  constructor({ path, base }: RuntimeLogOptions) {
    this.#path = path;
    this.#base = base;
    this.#descriptor = open(path);
  }

  /** The supervisor's own line. */
  write(level: Level, msg: string, fields: Readonly<Record<string, unknown>> = {}): void {
    const line = `${JSON.stringify({ level, time: new Date().toISOString(), ...this.#base, ...fields, msg })}\n`;
    try {
      if (this.#descriptor === undefined || statSync(this.#path, { throwIfNoEntry: false }) === undefined)
        this.#reopen();
      if (this.#descriptor !== undefined) writeSync(this.#descriptor, line);
    } catch {
      // T4: there is nowhere left to say it
    }
  }

  /** The descriptor for the next worker's stdout and stderr, and where its lines begin; `ignore` when there is no file. */
  forWorker(): { readonly descriptor: number | 'ignore'; readonly from: LogPosition | undefined } {
    if (this.#descriptor === undefined || statSync(this.#path, { throwIfNoEntry: false }) === undefined) this.#reopen();
    if (this.#descriptor === undefined) return { descriptor: 'ignore', from: undefined };
    const { ino, size } = fstatSync(this.#descriptor);
    this.#workerInode = ino;
    return { descriptor: this.#descriptor, from: { inode: ino, offset: size } };
  }

  /** The worker has ended: what was set aside for it may go. */
  workerEnded(): void {
    this.#workerInode = undefined;
    rmSync(`${this.#path}.held`, { force: true });
  }

  /** Rotates when the file has grown over its limit; true when the worker has to open it anew. */
  rotateWhenFull({ maxBytes, maxFiles }: LogLimits): boolean {
    try {
      if (this.#descriptor === undefined || fstatSync(this.#descriptor).size < maxBytes) return false;
      this.#shift(Math.max(1, maxFiles));
      this.#reopen();
      return true;
    } catch (error) {
      this.write('warn', 'log rotation failed', { reason: String(error) });
      return false;
    }
  }

  /** The last lines since a position, oldest first, from the present file. */
  lastLines(count: number, from: LogPosition | undefined): readonly string[] {
    try {
      return this.#read(from)
        .split('\n')
        .filter((line) => line !== '')
        .slice(-count);
    } catch {
      return [];
    }
  }

  #read(from: LogPosition | undefined): string {
    const descriptor = openSync(this.#path, 'r');
    try {
      const { ino, size } = fstatSync(descriptor);
      const begin = Math.max(from?.inode === ino ? from.offset : 0, size - LAST_BYTES);
      const bytes = Buffer.alloc(Math.max(0, size - begin));
      const read = readSync(descriptor, bytes, 0, bytes.length, begin);
      return bytes.toString('utf8', 0, read);
    } finally {
      closeSync(descriptor);
    }
  }

  #shift(maxFiles: number): void {
    const name = (n: number): string => (n === 0 ? this.#path : `${this.#path}.${n}`);
    const oldest = name(maxFiles - 1);
    const stat = statSync(oldest, { throwIfNoEntry: false });
    if (maxFiles > 1 && stat !== undefined && stat.ino === this.#workerInode) renameSync(oldest, `${this.#path}.held`);
    else if (maxFiles > 1) rmSync(oldest, { force: true });
    for (let n = maxFiles - 2; n >= 0; n -= 1)
      if (statSync(name(n), { throwIfNoEntry: false }) !== undefined) renameSync(name(n), name(n + 1));
    if (maxFiles === 1) renameSync(this.#path, `${this.#path}.held`);
  }

  #reopen(): void {
    const old = this.#descriptor;
    this.#descriptor = open(this.#path);
    if (old !== undefined) closeSync(old);
  }
}

export interface LogPosition {
  readonly inode: number;
  readonly offset: number;
}

function open(path: string): number | undefined {
  try {
    return openSync(path, constants.O_APPEND | constants.O_CREAT | constants.O_WRONLY, 0o600);
  } catch {
    return undefined; // T4: tried again with the next line
  }
}
