// Remembers a failed write until its effects are repaired. A failed write may leave frames that only the page cache has.
//
//   WAL-16  The last connection to close checkpoints and deletes the WAL, and does not report a failed write. The first connection to open reads the
//           content of the WAL anew. So a read-only connection stays open until the repair is done.
//   WAL-17  A reader may keep this process from the repair. So the next process must know of the failed write: a flag in the mode of the WAL tells
//           it.
import type { Database } from 'better-sqlite3';
import { isFailedWrite } from '../../storage-fault.ts';
import { openReadOnly } from '../connection.ts';
import { forgetLost, noteLost } from './log-file.ts';

export class LostWrites {
  readonly #file: string;
  #any: boolean;
  #reading: Database | undefined;

  constructor(file: string, any: boolean) {
    this.#file = file;
    this.#any = any;
  }

  get any(): boolean {
    return this.#any;
  }

  note(error: unknown): void {
    if (!isFailedWrite(error)) return;
    this.#any = true;
    noteLost(this.#file);
  }

  /** WAL-16: opens the read-only connection. Call before the writing connection is closed. Throws what SQLite throws. */
  hold(): void {
    if (!this.#any || this.#reading !== undefined) return;
    const reading = openReadOnly(this.#file);
    try {
      reading.pragma('page_count'); // opens the WAL
    } catch (error) {
      reading.close();
      throw error;
    }
    this.#reading = reading;
  }

  settled(): void {
    forgetLost(this.#file); // also a flag that an earlier process has set
    this.#any = false;
    this.letGo();
  }

  letGo(): void {
    this.#reading?.close();
    this.#reading = undefined;
  }
}
