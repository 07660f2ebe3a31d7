// The disk budget: free bytes and inodes on the disks of the state, and bytes used by the project's state. If a limit is reached, ingress answers
// 503. So deliveries stop before SQLite fails. The host is not ready then. Free space is read every second, and used bytes every five
// seconds, because that walks the folders. No request waits for either. The database may be on another disk. The database file is never
// opened here: closing a descriptor of the file would drop SQLite's POSIX locks.
import { opendir, realpath, stat, statfs } from 'node:fs/promises';
import { basename, dirname, join, sep } from 'node:path';
import { fewFilesLeft, INODES_REMEDY } from '../../shared/files/free-files.ts';
import { SvcError } from '../../shared/svc-error.ts';
import type { Clock, Timer } from '../../shared/time/clock.ts';

export interface DiskLimits {
  readonly maxBytes: number;
  readonly minFreeBytes: number;
}
export interface DiskUse {
  readonly usedBytes: number;
  /** Free bytes on the fullest disk that holds state. */
  readonly freeBytes: number;
}

const EVERY_MS = 1_000;
const WALK_EVERY = 5;
/** Takes about ten milliseconds. */
const FIRST_ENTRIES = 2_000;
/** Lets clients that wait for the start get their first answers before. */
const FIRST_AFTER_MS = 25;

export class DiskBudget {
  readonly #folders: readonly string[];
  readonly #without: ReadonlySet<string>;
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
    /**
     * Folders below them that do not count: restore points, and copies of the state and the code that are made and removed again. Otherwise the
     * rehearsal of a checkpoint would close ingress.
     */
    readonly without?: readonly string[];
    readonly database: string;
    readonly limits: () => DiskLimits;
    readonly clock: Clock;
    readonly changed: (low: string | undefined) => void;
  }) {
    this.#folders = options.folders;
    this.#without = new Set(options.without);
    this.#database = options.database;
    this.#limits = options.limits;
    this.#clock = options.clock;
    this.#changed = options.changed;
  }

  /** The last measurement. A caller before the first complete one waits for it. */
  async use(): Promise<DiskUse> {
    return this.#use === undefined || this.#isEarly ? this.look() : this.#use;
  }

  /** Why there is no room, by the last measurement. */
  get low(): string | undefined {
    return this.#low;
  }

  /** Checks before the host reports that it is up. Counts used bytes only up to a small number of files. */
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

  /** Checks at once, if started. */
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

  /** Counts all files. Never rejects. */
  async look(): Promise<DiskUse> {
    const use = await this.#count({ left: Number.POSITIVE_INFINITY });
    this.#isEarly = false;
    return use;
  }

  /** Counts at most `entries.left` files. Beyond that the last count stays. */
  async #count(entries: { left: number }): Promise<DiskUse> {
    const outside = await this.#databaseOutside();
    const below = this.#folders.map((folder) => sizeBelow(folder, { entries, without: this.#without }));
    const sizes = await Promise.all([...below, ...outside.map(sizeOf)]);
    return this.#lookAtDisk(entries.left < 0 ? undefined : sizes.reduce((sum, size) => sum + size, 0));
  }

  /** Files of the database, if none of the counted folders contains them. */
  async #databaseOutside(): Promise<readonly string[]> {
    const [database, ...folders] = await Promise.all([this.#database, ...this.#folders].map(realPath));
    if (database === undefined || folders.some((folder) => database.startsWith(`${folder}${sep}`))) return [];
    return [database, `${database}-wal`, `${database}-shm`];
  }

  async #lookAtDisk(usedBytes = this.#use?.usedBytes ?? 0): Promise<DiskUse> {
    const rooms = await Promise.all([...this.#folders, await realPath(this.#database)].map(roomAt));
    const ofDatabase = rooms.at(-1)?.freeBytes ?? 0;
    const state = Math.min(...rooms.slice(0, -1).map(({ freeBytes }) => freeBytes));
    const fewFiles = rooms.map((room) => room.fewFiles).find((reason) => reason !== undefined);
    const use = { usedBytes, freeBytes: Math.min(state, ofDatabase) };
    this.#use = use;
    const { maxBytes, minFreeBytes } = this.#limits();
    const where = ofDatabase < minFreeBytes && state >= minFreeBytes ? ' where the database lies' : '';
    const low =
      use.freeBytes < minFreeBytes
        ? `${use.freeBytes} bytes are free${where}, disk.minFreeBytes asks for ${minFreeBytes}: ${minFreeBytes - use.freeBytes} more are needed`
        : use.usedBytes > maxBytes
          ? `the state takes ${use.usedBytes} bytes, disk.maxBytes allows ${maxBytes}`
          : fewFiles && `${fewFiles}; ${INODES_REMEDY}`;
    const isChanged = (low === undefined) !== (this.#low === undefined);
    this.#low = low;
    if (isChanged) this.#changed(low);
    return use;
  }
}

/** The path without symbolic links. A missing end of the path is appended unresolved. */
async function realPath(path: string): Promise<string> {
  const parent = dirname(path);
  return realpath(path).catch(async () => (parent === path ? path : join(await realPath(parent), basename(path))));
}

interface Room {
  readonly freeBytes: number;
  readonly fewFiles?: string | undefined;
}

/** Room on the disk of this path, or of its nearest existing parent. */
async function roomAt(path: string): Promise<Room> {
  try {
    const stats = await statfs(path);
    return { freeBytes: stats.bavail * stats.bsize, fewFiles: fewFilesLeft(stats) };
  } catch (error) {
    const parent = dirname(path);
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT' && parent !== path;
    return isMissing ? roomAt(parent) : { freeBytes: Number.POSITIVE_INFINITY }; // an unknown value sets no limit
  }
}

const sizeOf = (file: string): Promise<number> =>
  stat(file).then(
    ({ size }) => size,
    () => 0, // the file may have been deleted meanwhile
  );

async function sizeBelow(
  folder: string,
  of: { readonly entries: { left: number }; readonly without: ReadonlySet<string> },
): Promise<number> {
  const { entries, without } = of;
  let sum = 0;
  try {
    for await (const entry of await opendir(folder)) {
      entries.left -= 1;
      if (entries.left < 0) return sum;
      const path = join(folder, entry.name);
      if (without.has(path)) continue;
      if (entry.isDirectory()) sum += await sizeBelow(path, of);
      else if (entry.isFile()) sum += await sizeOf(path);
    }
  } catch {
    return sum; // a missing or unreadable folder counts with the files seen so far
  }
  return sum;
}
