// Syncs a file while SQLite writes it, a few MiB at a time.
//
//   TARGET-SYNC-1  One large sync would hold up the syncs of others on the same disk. What is synced early goes on beside the copying.
//   TARGET-SYNC-2  If the disk falls behind, the copying waits for it.
//   TARGET-SYNC-3  A failed sync fails the copy: the kernel reports it once.
import { closeSync, fdatasync, fdatasyncSync, openSync } from 'node:fs';

const SYNC_EACH_BYTES = 4 * 1_048_576;
const MOST_UNSYNCED_BYTES = 16 * 1_048_576;

export class TargetSync {
  readonly #descriptor: number;
  #syncedBytes = 0;
  #running: Promise<void> | undefined;
  #failure: Error | undefined;

  /** `end` closes it once SQLite has closed the file: a close drops SQLite's POSIX locks. */
  constructor(file: string) {
    this.#descriptor = openSync(file, 'r+');
  }

  /** Throws what a sync has failed with. */
  copied(bytes: number): void {
    if (this.#failure !== undefined) throw this.#failure;
    if (bytes - this.#syncedBytes >= MOST_UNSYNCED_BYTES) {
      fdatasyncSync(this.#descriptor);
      this.#syncedBytes = bytes;
    } else if (this.#running === undefined && bytes - this.#syncedBytes >= SYNC_EACH_BYTES)
      this.#running = this.#sync(bytes);
  }

  async end(): Promise<void> {
    await this.#running;
    closeSync(this.#descriptor);
    if (this.#failure !== undefined) throw this.#failure;
  }

  #sync(bytes: number): Promise<void> {
    return new Promise((resolve) => {
      fdatasync(this.#descriptor, (error) => {
        if (error !== null) this.#failure = error;
        this.#syncedBytes = Math.max(this.#syncedBytes, bytes);
        this.#running = undefined;
        resolve();
      });
    });
  }
}
