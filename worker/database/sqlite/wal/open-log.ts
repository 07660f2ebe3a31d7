// The log (WAL) that the writer's connection has open: whether it is still the one at its path (W5 of writer-core.ts), and still what was written (W7).
import { statSync } from 'node:fs';
import type { Database } from 'better-sqlite3';
import { endToMend, keepsLog, logBytes, logFrames, pageBytesOf, versionOf } from './checkpoint.ts';
import { logOf, sizeOf } from './log-file.ts';
import { LogGuard } from './log-guard.ts';

const ALTERED = 'the log of the database was truncated or overwritten';
/** Another program may write or bring over between two looks. */
const LOOKS = 3;

export class OpenLog {
  readonly #file: string;
  /** As it was when it was opened. */
  #log: { readonly path: string; readonly inode: number } | undefined;
  /** It has a group of this connection. */
  #isKnown = false;
  #isKept = false;
  #guard: LogGuard | undefined;
  /** As of the last frames that were found whole. */
  #version: unknown;

  constructor(file: string) {
    this.#file = file;
  }

  /** Not in memory. */
  get isKept(): boolean {
    return this.#isKept;
  }

  /** A connection was opened. */
  opened(database: Database): void {
    this.#isKnown = false;
    this.look();
    this.#isKept = keepsLog(database);
    this.#version = versionOf(database);
  }

  look(): void {
    const path = logOf(this.#file);
    const inode = inodeOf(path);
    this.#log = inode === undefined ? undefined : { path, inode };
  }

  isThere(): boolean {
    return !this.#isKept || (this.#log !== undefined && inodeOf(this.#log.path) === this.#log.inode);
  }

  /** A log that somebody put there between the opening of ours and the look at it is known by its length, after the first group. */
  know(database: Database): void {
    if (this.#isKnown || !this.#isKept || this.#log === undefined) return;
    this.#isKnown = true;
    if (sizeOf(this.#log.path) < logBytes(database)) this.#log = undefined;
  }

  /** While it is there; `all` of it, or what each answer is worth. Throws what SQLite and `node:fs` throw. */
  isWhole(database: Database, all = false): boolean {
    const guard = this.#guardOf(database);
    if (guard === undefined) return true;
    return this.#endsWhole(database, guard) && (!all || guard.isSame());
  }

  #endsWhole(database: Database, guard: LogGuard): boolean {
    for (let look = 1, frames = logFrames(database); ; look += 1) {
      if (this.#isWholeTo(frames, { guard, database })) return true;
      const now = logFrames(database);
      if (now === frames || look === LOOKS) return false;
      frames = now;
    }
  }

  #isWholeTo(frames: number, { guard, database }: { readonly guard: LogGuard; readonly database: Database }): boolean {
    const before = guard.frames;
    if (!guard.isWhole(frames) && !(versionOf(database) !== this.#version && guard.isWhole(frames, true))) return false;
    if (frames !== before) this.#version = versionOf(database);
    return true;
  }

  /** Whether frames were written that `isWhole` has not found whole. */
  hasMore(database: Database): boolean {
    return logFrames(database) !== (this.#guard?.frames ?? 0);
  }

  /** Writes what `isWhole` last found whole; false where nothing is known of it. Throws what `node:fs` throws. */
  isRestored(): boolean {
    return this.#guard?.restore() === true;
  }

  /** The same; where nothing is known the next process says what is lost. */
  restore(): void {
    if (!this.isRestored()) this.end();
  }

  /** The next process reads all anew. */
  restoreAndEnd(): never {
    this.restore();
    this.endRestored();
  }

  endRestored(): never {
    endToMend(this.#file, { what: `${ALTERED} while it was written; it is restored` });
  }

  /** There is nothing to restore: the next process says what is lost (noted-history.ts). */
  end(): never {
    endToMend(this.#file, { what: `${ALTERED}, and cannot be restored` });
  }

  letGo(): void {
    this.#guard?.close();
    this.#guard = undefined;
  }

  #guardOf(database: Database): LogGuard | undefined {
    if (!this.#isKept || this.#log === undefined) return undefined;
    if (this.#guard?.inode === this.#log.inode) return this.#guard;
    this.letGo();
    const guard = openGuard(this.#log.path, pageBytesOf(database));
    if (guard?.inode === this.#log.inode) this.#guard = guard;
    else guard?.close(); // removed or replaced meanwhile: W5
    return this.#guard;
  }
}

/** Undefined where the log was removed since the look at its path. */
function openGuard(path: string, pageBytes: number): LogGuard | undefined {
  try {
    return new LogGuard(path, pageBytes);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

const inodeOf = (path: string): number | undefined => statSync(path, { throwIfNoEntry: false })?.ino;
