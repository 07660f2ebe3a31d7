// Whether there is room for more: free bytes where the state lies, and bytes that the project's own state takes. When it is low,
// ingress answers 503 before SQLite fails, and the host is not ready. Looked at every second, never on the way of a request; the state's
// own bytes every few seconds, since its folders are walked for them. The database may lie elsewhere, on a disk of its own; it is only asked
// for by its path, since closing a descriptor of it would drop SQLite's locks.
import { opendir, realpath, stat, statfs } from 'node:fs/promises';
import { basename, dirname, join, sep } from 'node:path';
import { SvcError } from '../../shared/svc-error.ts';
import type { Clock, Timer } from '../../shared/time/clock.ts';

export interface DiskLimits {
  readonly maxBytes: number;
  readonly minFreeBytes: number;
}
export interface DiskUse {
  readonly usedBytes: number;
  /** On the fullest of the disks that the state lies on. */
  readonly freeBytes: number;
}

const EVERY_MS = 1_000;
const WALK_EVERY = 5;
/** Some ten milliseconds. */
const FIRST_ENTRIES = 2_000;
/** Whoever waits for the host to be up gets the first answers before. */
const FIRST_AFTER_MS = 25;

export class DiskBudget {
  readonly #folders: readonly string[];
  readonly #database: string;
  readonly #limits: () => DiskLimits;
  readonly #clock: Clock;
  readonly #changed: (low: string | undefined) => void;
  #use: DiskUse | undefined;
  #isEarly = false;
  #low: string | undefined;
  #timer: Timer | undefined;
  #looks = 0;
  #stopped = false;

  constructor(options: {
    readonly folders: readonly string[];
    readonly database: string;
    readonly limits: () => DiskLimits;
    readonly clock: Clock;
    readonly changed: (low: string | undefined) => void;
  }) {
    this.#folders = options.folders;
    this.#database = options.database;
    this.#limits = options.limits;
    this.#clock = options.clock;
    this.#changed = options.changed;
  }

  /** As it was at the last look; the first who asks before that waits for one. What was there before the host was up is no answer. */
  async use(): Promise<DiskUse> {
    return this.#use === undefined || this.#isEarly ? this.look() : this.#use;
  }

  /** Why there is no room, as of the last look. */
  get low(): string | undefined {
    return this.#low;
  }

  /** Before the host says that it is up. What the state takes is known then, too, where that is soon counted. */
  async lookFirst(): Promise<void> {
    await this.#count({ left: FIRST_ENTRIES });
    this.#isEarly = true;
  }

  start(): void {
    if (!this.#stopped) this.#timer = this.#clock.after(FIRST_AFTER_MS, () => this.#goOn());
  }

  #goOn(): void {
    const look = this.#looks % WALK_EVERY === 0 ? this.look() : this.#lookAtDisk();
    this.#looks += 1;
    void look.finally(() => {
      if (!this.#stopped) this.#timer = this.#clock.after(EVERY_MS, () => this.#goOn());
    });
  }

  stop(): void {
    this.#stopped = true;
    this.#timer?.cancel();
  }

  /** Looks at once, where it has been started. */
  limitsChanged(): void {
    if (this.#looks > 0) void this.look();
  }

  /** Throws `disk_budget` while there is no room. */
  refuseWhenLow(): void {
    if (this.#low === undefined) return;
    throw new SvcError('disk_budget', this.#low, {
      hint: 'free disk space, or raise disk.maxBytes',
      details: { retryAfterMs: 30_000 },
    });
  }

  /** Never rejects. Walks the folders beside everything else: there may be many files. */
  async look(): Promise<DiskUse> {
    const use = await this.#count({ left: Number.POSITIVE_INFINITY });
    this.#isEarly = false;
    return use;
  }

  /** Counts so many entries at most; beyond that what was counted last stays. */
  async #count(entries: { left: number }): Promise<DiskUse> {
    const outside = await this.#databaseOutside();
    const below = this.#folders.map((folder) => sizeBelow(folder, entries));
    const sizes = await Promise.all([...below, ...outside.map(sizeOf)]);
    return this.#lookAtDisk(entries.left < 0 ? undefined : sizes.reduce((sum, size) => sum + size, 0));
  }

  /** Its files, where no folder that is walked holds them. */
  async #databaseOutside(): Promise<readonly string[]> {
    const [database, ...folders] = await Promise.all([this.#database, ...this.#folders].map(realPath));
    if (database === undefined || folders.some((folder) => database.startsWith(`${folder}${sep}`))) return [];
    return [database, `${database}-wal`, `${database}-shm`];
  }

  async #lookAtDisk(usedBytes = this.#use?.usedBytes ?? 0): Promise<DiskUse> {
    const state = Math.min(...(await Promise.all(this.#folders.map(freeBytes))));
    const ofDatabase = await freeBytes(await realPath(this.#database));
    const use = { usedBytes, freeBytes: Math.min(state, ofDatabase) };
    this.#use = use;
    const { maxBytes, minFreeBytes } = this.#limits();
    const where = ofDatabase < minFreeBytes && state >= minFreeBytes ? ' where the database lies' : '';
    const low =
      use.freeBytes < minFreeBytes
        ? `${use.freeBytes} bytes are free${where}, disk.minFreeBytes asks for ${minFreeBytes}: ${minFreeBytes - use.freeBytes} more are needed`
        : use.usedBytes > maxBytes
          ? `the state takes ${use.usedBytes} bytes, disk.maxBytes allows ${maxBytes}`
          : undefined;
    const isChanged = (low === undefined) !== (this.#low === undefined);
    this.#low = low;
    if (isChanged) this.#changed(low);
    return use;
  }
}

/** Without links; what is not there yet is where it will be. */
async function realPath(path: string): Promise<string> {
  const parent = dirname(path);
  return realpath(path).catch(async () => (parent === path ? path : join(await realPath(parent), basename(path))));
}

/** Of the disk of this path; of what is not there yet, of the disk where it will be. */
async function freeBytes(path: string): Promise<number> {
  try {
    const { bavail, bsize } = await statfs(path);
    return bavail * bsize;
  } catch (error) {
    const parent = dirname(path);
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT' && parent !== path;
    return isMissing ? freeBytes(parent) : Number.POSITIVE_INFINITY; // what cannot be asked bounds nothing
  }
}

const sizeOf = (file: string): Promise<number> =>
  stat(file).then(
    ({ size }) => size,
    () => 0, // it may be gone again
  );

async function sizeBelow(folder: string, entries: { left: number }): Promise<number> {
  let sum = 0;
  try {
    for await (const entry of await opendir(folder)) {
      entries.left -= 1;
      if (entries.left < 0) return sum;
      const path = join(folder, entry.name);
      if (entry.isDirectory()) sum += await sizeBelow(path, entries);
      else if (entry.isFile()) sum += await sizeOf(path);
    }
  } catch {
    return sum; // a folder that is not there, or cannot be read, counts as what was seen of it
  }
  return sum;
}
