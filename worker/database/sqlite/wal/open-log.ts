// The WAL that the writer's connection has open. Checks that the WAL is still the file at its path, and still holds what was written.
import { statSync } from 'node:fs';
import type { Database } from 'better-sqlite3';
import { endToMend, keepsLog, logBytes, logFrames, pageBytesOf, versionOf } from './checkpoint.ts';
import { logOf, sizeOf } from './log-file.ts';
import { LogGuard } from './log-guard.ts';

const ALTERED = 'the log of the database was truncated or overwritten';
/** Another program may commit or run a checkpoint between two checks. */
const LOOKS = 3;

export class OpenLog {
  readonly #file: string;
  /** As of the last look at the path. */
  #log: { readonly path: string; readonly inode: number } | undefined;
  /** The length of the WAL was compared after the first group of this connection. */
  #isKnown = false;
  #isKept = false;
  #guard: LogGuard | undefined;
  /** `PRAGMA data_version` at the last check that found the WAL whole. */
  #version: unknown;

  constructor(file: string) {
    this.#file = file;
  }

  /** Whether the database has a WAL; false in memory. */
  get isKept(): boolean {
    return this.#isKept;
  }

  /** Call after a connection was opened. */
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

  /**
   * Another program may replace the WAL between the open and the look at its path. After the first group such a WAL is shorter than SQLite's count of
   * frames.
   */
  know(database: Database): void {
    if (this.#isKnown || !this.#isKept || this.#log === undefined) return;
    this.#isKnown = true;
    if (sizeOf(this.#log.path) < logBytes(database)) this.#log = undefined;
  }

  /** Whether the WAL holds what was written; true if it was removed. `all` compares every byte. Throws what SQLite and `node:fs` throw. */
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

  /** Whether there are frames that `isWhole` has not found whole. */
  hasMore(database: Database): boolean {
    return logFrames(database) !== (this.#guard?.frames ?? 0);
  }

  /** Writes back the WAL that `isWhole` last found whole; false without a copy. Throws what `node:fs` throws. */
  isRestored(): boolean {
    return this.#guard?.restore() === true;
  }

  /** Writes the WAL back. Without a copy the process is killed, and the next one reports the loss. */
  restore(): void {
    if (!this.isRestored()) this.end();
  }

  /** Writes the WAL back and kills the process: the next one reads all anew. */
  restoreAndEnd(): never {
    this.restore();
    this.endRestored();
  }

  endRestored(): never {
    endToMend(this.#file, { what: `${ALTERED} while it was written; it is restored` });
  }

  /** Kills the process without a repair. The next process finds a history shorter than its noted end, and reports the loss. */
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
    else guard?.close(); // removed or replaced meanwhile: the check of the path reports it
    return this.#guard;
  }
}

/** Undefined if the WAL was removed since the look at its path. */
function openGuard(path: string, pageBytes: number): LogGuard | undefined {
  try {
    return new LogGuard(path, pageBytes);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

const inodeOf = (path: string): number | undefined => statSync(path, { throwIfNoEntry: false })?.ino;
