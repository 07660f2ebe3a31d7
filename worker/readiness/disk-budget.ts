// Whether there is room for more: free bytes on the file system and bytes that the project's own state takes. When it is low,
// ingress answers 503 before SQLite fails. Looked at every few seconds, never on the way of a request.
import { readdirSync, statfsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock, Timer } from '../../shared/clock.ts';
import { SvcError } from '../../shared/svc-error.ts';

export interface DiskLimits {
  readonly maxBytes: number;
  readonly minFreeBytes: number;
}
export interface DiskUse {
  readonly usedBytes: number;
  readonly freeBytes: number;
}

const EVERY_MS = 5_000;

export class DiskBudget {
  readonly #folders: readonly string[];
  readonly #limits: () => DiskLimits;
  readonly #clock: Clock;
  readonly #changed: (low: string | undefined) => void;
  #use: DiskUse = { usedBytes: 0, freeBytes: Number.POSITIVE_INFINITY };
  #low: string | undefined;
  #timer: Timer | undefined;

  constructor(options: {
    readonly folders: readonly string[];
    readonly limits: () => DiskLimits;
    readonly clock: Clock;
    readonly changed: (low: string | undefined) => void;
  }) {
    this.#folders = options.folders;
    this.#limits = options.limits;
    this.#clock = options.clock;
    this.#changed = options.changed;
  }

  get use(): DiskUse {
    return this.#use;
  }

  start(): void {
    this.look();
    this.#timer = this.#clock.after(EVERY_MS, () => this.start());
  }

  stop(): void {
    this.#timer?.cancel();
  }

  /** Throws `disk_budget` while there is no room. */
  refuseWhenLow(): void {
    if (this.#low === undefined) return;
    throw new SvcError('disk_budget', this.#low, {
      hint: 'free disk space, or raise disk.maxBytes',
      details: { retryAfterMs: 30_000 },
    });
  }

  look(): void {
    const { maxBytes, minFreeBytes } = this.#limits();
    this.#use = {
      usedBytes: this.#folders.reduce((sum, folder) => sum + sizeBelow(folder), 0),
      freeBytes: freeBytes(this.#folders[0] ?? '.'),
    };
    const low =
      this.#use.freeBytes < minFreeBytes
        ? `${this.#use.freeBytes} bytes are free, disk.minFreeBytes asks for ${minFreeBytes}`
        : this.#use.usedBytes > maxBytes
          ? `the state takes ${this.#use.usedBytes} bytes, disk.maxBytes allows ${maxBytes}`
          : undefined;
    if ((low === undefined) !== (this.#low === undefined)) this.#changed(low);
    this.#low = low;
  }
}

function freeBytes(folder: string): number {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize;
  } catch {
    return Number.POSITIVE_INFINITY; // a folder that is not there yet bounds nothing
  }
}

function sizeBelow(folder: string): number {
  try {
    return readdirSync(folder, { withFileTypes: true }).reduce((sum, entry) => {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) return sum + sizeBelow(path);
      return entry.isFile() ? sum + (statSync(path, { throwIfNoEntry: false })?.size ?? 0) : sum;
    }, 0);
  } catch {
    return 0;
  }
}
