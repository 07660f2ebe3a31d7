// Copies the bytes of an open file, and syncs the copy while it is written.
//
//   SYNCED-COPY-1  One large sync would hold up the syncs of others on the same disk. A few MiB at a time are synced beside the copying.
//   SYNCED-COPY-2  If the disk falls behind, the copying waits for it.
//   SYNCED-COPY-3  A failed sync fails the copy: the kernel reports it once.
//   SYNCED-COPY-4  The source is a descriptor, which the caller closes once SQLite has closed the file: a close drops SQLite's POSIX locks.
import { closeSync, fdatasync, fdatasyncSync, openSync, readSync, writeSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { logOf, sizeOf } from '../../database/sqlite/wal/log-file.ts';

/** Larger writes make the kernel look for larger free pieces of memory, which on some machines costs ten times the copying. */
const STEP_BYTES = 65_536;
const TURN_EACH_BYTES = 1_048_576;
const SYNC_EACH_BYTES = 4 * 1_048_576;
const MOST_UNSYNCED_BYTES = 16 * 1_048_576;

/** Bytes that a copy of a database takes for a while: the file, its WAL, and what the file grows by it. */
export const roomFor = (file: string): number => sizeOf(file) + 2 * sizeOf(logOf(file));

export interface OpenedCopy {
  readonly descriptor: number;
  /** As many are copied, or as many as there are. */
  readonly bytes: number;
  /** A file that does not exist yet. Its name is not synced. */
  readonly target: string;
  readonly onProgress?: ((copiedBytes: number) => void) | undefined;
}

/** The event loop has its turn after each MiB, and `onProgress` is told of it and of the end. Gives the bytes that were copied. */
export async function copyOpened({ descriptor, bytes, target, onProgress }: OpenedCopy): Promise<number> {
  const buffer = Buffer.allocUnsafe(Math.min(STEP_BYTES, bytes));
  const sync = new TargetSync(openSync(target, 'wx', 0o600));
  let copied = 0;
  let lastTurn = 0;
  try {
    while (copied < bytes) {
      const read = readSync(descriptor, buffer, 0, Math.min(buffer.length, bytes - copied), copied);
      if (read === 0) break;
      for (let written = 0; written < read; )
        written += writeSync(sync.descriptor, buffer, written, read - written, copied + written);
      copied += read;
      if (copied - lastTurn < TURN_EACH_BYTES) continue;
      lastTurn = copied;
      sync.copied(copied);
      onProgress?.(copied);
      await nextTurn();
    }
    onProgress?.(copied);
  } finally {
    await sync.end();
  }
  return copied;
}

class TargetSync {
  readonly descriptor: number;
  #syncedBytes = 0;
  #running: Promise<void> | undefined;
  #failure: Error | undefined;

  constructor(descriptor: number) {
    this.descriptor = descriptor;
  }

  /** Throws what a sync has failed with. */
  copied(bytes: number): void {
    if (this.#failure !== undefined) throw this.#failure;
    if (bytes - this.#syncedBytes >= MOST_UNSYNCED_BYTES) {
      fdatasyncSync(this.descriptor);
      this.#syncedBytes = bytes;
    } else if (this.#running === undefined && bytes - this.#syncedBytes >= SYNC_EACH_BYTES)
      this.#running = this.#sync(bytes);
  }

  /** Closes it. What was written last may not be synced. */
  async end(): Promise<void> {
    await this.#running;
    closeSync(this.descriptor);
    if (this.#failure !== undefined) throw this.#failure;
  }

  #sync(bytes: number): Promise<void> {
    return new Promise((resolve) => {
      fdatasync(this.descriptor, (error) => {
        if (error !== null) this.#failure = error;
        this.#syncedBytes = Math.max(this.#syncedBytes, bytes);
        this.#running = undefined;
        resolve();
      });
    });
  }
}
