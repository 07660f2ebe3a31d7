// The database file that the writer has open. Checks that it is the file at the path, has not become shorter, and was written by no other program.
import { statSync } from 'node:fs';
import type { Database } from 'better-sqlite3';
import { cut, gone, overwritten } from '../unavailable.ts';
import { logState } from './wal/checkpoint.ts';

interface Look {
  readonly inode: number | undefined;
  readonly bytes: number;
  /** Time of the last write (mtime), in ms. */
  readonly writtenAt: number;
}

export class OpenFile {
  readonly #file: string;
  /** Undefined before the first open. */
  inode: number | undefined;
  /** Greatest length while the file was open. */
  #bytes = 0;
  /** Inode before the open. Undefined: there was no file. */
  #asked: number | undefined;
  #writtenAt = 0;
  #log = { log: 0, checkpointed: 0 };
  /** An integrity check must pass before anything more is written. */
  #isSuspect = false;

  constructor(file: string, inode: number | undefined) {
    this.#file = file;
    this.inode = inode;
  }

  look(): Look {
    if (this.#file === ':memory:') return { inode: 0, bytes: 1, writtenAt: 0 };
    const found = statSync(this.#file, { throwIfNoEntry: false });
    return { inode: found?.ino, bytes: found?.size ?? 0, writtenAt: found?.mtimeMs ?? 0 };
  }

  /** Call before an open. Returns the length in bytes. */
  refuseOther(): number {
    const { inode, bytes } = this.look();
    if (this.inode !== undefined && inode !== this.inode) throw gone(this.#file);
    if (this.inode !== undefined && bytes === 0) throw cut(this.#file);
    this.#isSuspect ||= bytes < this.#bytes;
    this.#asked = inode;
    return bytes;
  }

  /** There was such a file when it was asked for. */
  get isKnown(): boolean {
    return this.#asked !== undefined && this.#asked !== 0;
  }

  /** Throws if the file was replaced while it was opened: the connection may have the one that is not there any more. */
  refuseReplaced(): void {
    if (this.#asked !== undefined && this.look().inode !== this.#asked) throw gone(this.#file);
  }

  refuseDamaged(database: Database): void {
    if (!this.#isSuspect) return;
    if (database.pragma('quick_check(1)', { simple: true }) !== 'ok') throw overwritten(this.#file);
    this.#isSuspect = false;
  }

  /** Call after an open. Returns the length in bytes. */
  opened(database: Database): number {
    const { inode, bytes } = this.look();
    this.inode = this.#asked ?? inode;
    this.#bytes = bytes;
    this.broughtOver(database);
    return bytes;
  }

  /** Call after this process has written the file. Returns the length in bytes. */
  broughtOver(database: Database): number {
    const { bytes, writtenAt } = this.look();
    this.#writtenAt = writtenAt;
    this.#log = logState(database);
    return bytes;
  }

  /** Throws if the file was replaced, became shorter, or was written by another program. */
  refuseUnlessThere(database: Database): void {
    const { inode, bytes, writtenAt } = this.look();
    if (inode !== this.inode) throw gone(this.#file);
    if (bytes < this.#bytes) throw cut(this.#file);
    if (writtenAt !== this.#writtenAt) this.#refuseUnlessBroughtOver(database);
    this.#log = logState(database);
    this.#bytes = bytes;
  }

  /** Call after this process has truncated the file. */
  shortened(): void {
    this.#bytes = Math.min(this.#bytes, this.look().bytes);
  }

  #refuseUnlessBroughtOver(database: Database): void {
    const { log, checkpointed } = logState(database);
    if (log >= this.#log.log && checkpointed === this.#log.checkpointed) {
      this.#isSuspect = true;
      throw overwritten(this.#file);
    }
    this.broughtOver(database);
  }
}
