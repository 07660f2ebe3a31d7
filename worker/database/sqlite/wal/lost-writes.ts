// That a write has failed, as long as what it left is not mended (W6 of writer-core.ts).
//
//   X1  Whoever is the last to close the file brings the log over and removes it, and tells nobody whether the disk took that; and whoever opens it while
//       nobody else has it open looks anew for what the log holds. So a connection that only reads stays open until all is mended.
//   X2  The next process has to know of it where a reader keeps it from mending what it finds: it is noted on the log (log-file.ts).
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

  /** X1: before the connection that writes is closed. Throws what SQLite throws. */
  hold(): void {
    if (!this.#any || this.#reading !== undefined) return;
    const reading = openReadOnly(this.#file);
    try {
      reading.pragma('page_count'); // opens the log
    } catch (error) {
      reading.close();
      throw error;
    }
    this.#reading = reading;
  }

  settled(): void {
    forgetLost(this.#file); // also what a process before this one has noted
    this.#any = false;
    this.letGo();
  }

  letGo(): void {
    this.#reading?.close();
    this.#reading = undefined;
  }
}
