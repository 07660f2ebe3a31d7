// The database file that the writer has open: the one at its path (W1 of writer-core.ts), as long as it was (W4), and written by nobody else (W8).
import { statSync } from 'node:fs';
import type { Database } from 'better-sqlite3';
import { cut, gone, overwritten } from '../unavailable.ts';
import { logState } from './wal/checkpoint.ts';

interface Look {
  readonly inode: number | undefined;
  readonly bytes: number;
  /** When it was written last. */
  readonly writtenAt: number;
}

export class OpenFile {
  readonly #file: string;
  /** Undefined before it was opened. */
  inode: number | undefined;
  /** The longest that it was while it was open. */
  #bytes = 0;
  #writtenAt = 0;
  #log = { log: 0, checkpointed: 0 };
  /** It is to be found whole before anything more is written. */
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

  /** Before it is opened: its length. */
  refuseOther(): number {
    const { inode, bytes } = this.look();
    if (this.inode !== undefined && inode !== this.inode) throw gone(this.#file);
    if (this.inode !== undefined && bytes === 0) throw cut(this.#file);
    this.#isSuspect ||= bytes < this.#bytes;
    return bytes;
  }

  refuseDamaged(database: Database): void {
    if (!this.#isSuspect) return;
    if (database.pragma('quick_check(1)', { simple: true }) !== 'ok') throw overwritten(this.#file);
    this.#isSuspect = false;
  }

  /** Its length. */
  opened(database: Database): number {
    const { inode, bytes } = this.look();
    this.inode = inode;
    this.#bytes = bytes;
    this.broughtOver(database);
    return bytes;
  }

  /** This process has written it: its length. */
  broughtOver(database: Database): number {
    const { bytes, writtenAt } = this.look();
    this.#writtenAt = writtenAt;
    this.#log = logState(database);
    return bytes;
  }

  /** W1, W4, W8. */
  refuseUnlessThere(database: Database): void {
    const { inode, bytes, writtenAt } = this.look();
    if (inode !== this.inode) throw gone(this.#file);
    if (bytes < this.#bytes) throw cut(this.#file);
    if (writtenAt !== this.#writtenAt) this.#refuseUnlessBroughtOver(database);
    this.#log = logState(database);
    this.#bytes = bytes;
  }

  /** It was cut by this process. */
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
