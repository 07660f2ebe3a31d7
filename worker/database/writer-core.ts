// The one writable connection: opened, migrated, watched for being taken away, opened again after a failure.
//
//   W1  No group is answered when the file it went into is no longer the file at its path (unlinked, replaced).
//   W2  After a failed group the connection is closed; the next group opens it anew, so that nothing that this one kept in memory is relied on. SQLite
//       then reads what the kernel has, which after a failed sync is not what the disk has: see storage-fault.ts.
//   W3  A database file that was there and is gone or empty is never made anew: that would be an empty history. Before this process:
//       shared/lost-history.ts.
//   W4  No group is answered when the file is shorter than it was: we never shorten it. Somebody else may (VACUUM), so it is opened
//       again once it is found whole.
//   W5  No group is answered into a log that is no longer the one at its path: the next start would not find it. What such a log holds is
//       brought over into the file through the connection that has it open; that is left only then, and a new log begun.
import { rmSync, statSync } from 'node:fs';
import { basename } from 'node:path';
import type { Database } from 'better-sqlite3';
import { DAMAGED_REMEDY, LOST_REMEDY } from '../../shared/database-remedies.ts';
import { noteHistory } from '../../shared/lost-history.ts';
import { SvcError } from '../../shared/svc-error.ts';
import { openWritable, sqliteCode } from './connection.ts';
import { type GroupAnswer, GroupCommit } from './group-commit.ts';
import { isBehind, migrate } from './migrate.ts';
import { storageFault } from './storage-fault.ts';
import type { Unit } from './unit.ts';

export interface WriterCoreOptions {
  readonly file: string;
  readonly now: () => number;
  /** The file as this process has had it open before; left out: whatever is there, or a new one. */
  readonly inode?: number | undefined;
  /** Migrations of what is stored are left to others: `open` throws MigrationDue. */
  readonly leavesMigrations?: boolean;
  /** Called between the statements and COMMIT; a throw counts as a failed sync. */
  readonly beforeCommit?: () => void;
}

/** Nothing was changed, nothing is open. */
export class MigrationDue extends Error {}

export class WriterCore {
  readonly #options: WriterCoreOptions;
  #database: Database | undefined;
  #group: GroupCommit | undefined;
  #inode: number | undefined;
  /** Of the log as it was when it was opened. */
  #log: number | undefined;
  /** The connection is there only for what its log still holds. */
  #hasFailed = false;
  /** A log that was taken away has been brought over; the next answer tells. */
  #isLogMended = false;
  /** The longest that it was while it was open. */
  #bytes = 0;

  constructor(options: WriterCoreOptions) {
    this.#options = options;
    this.#inode = options.inode;
  }

  /** Of the file that it has had open; undefined before it was opened. */
  get inode(): number | undefined {
    return this.#inode;
  }

  /** Opens and migrates. Throws SvcError `schema_newer`, `database_corrupt`, `storage_unavailable`. Returns the connection. */
  open(): Database {
    const { file } = this.#options;
    if (this.#database !== undefined) {
      if (!this.#hasFailed && this.#hasLog()) return this.#database;
      this.#leaveOrExplain(this.#database);
    }
    const before = this.#look();
    if (this.#inode !== undefined && before.inode !== this.#inode) throw gone(file);
    if (this.#inode !== undefined && before.bytes === 0) throw cut(file);
    const database = openOrExplain(file);
    try {
      if (before.bytes < this.#bytes) refuseUnlessWhole(file, database);
      if (this.#options.leavesMigrations === true && isBehind(database)) throw new MigrationDue();
      migrate(database, this.#options.now());
      this.#group = new GroupCommit(database, this.#options.beforeCommit);
    } catch (error) {
      database.close();
      throw explain(file, error);
    }
    if (this.#inode === undefined) noteHistory(file);
    const { inode, bytes } = this.#look();
    this.#inode = inode;
    this.#log = inodeOf(logOf(file));
    this.#bytes = bytes;
    this.#hasFailed = false;
    this.#database = database;
    return database;
  }

  /** Throws SvcError; then nothing of the group may be taken as stored. */
  run(units: readonly Unit[]): GroupAnswer {
    const database = this.open();
    const { file } = this.#options;
    try {
      this.#refuseUnlessThere();
      const answer = this.#group?.run(units);
      if (answer === undefined) throw gone(file);
      this.#refuseUnlessThere();
      if (!this.#hasLog()) save(file, database);
      const isLogMended = this.#isLogMended;
      this.#isLogMended = false;
      return isLogMended ? { ...answer, isLogMended } : answer;
    } catch (error) {
      this.#abandon(database);
      throw explain(file, error);
    }
  }

  /** True where a log that was taken away has been brought over, and no answer has told of it. */
  close(): boolean {
    const database = this.#database;
    if (database === undefined) return this.#isLogMended;
    try {
      if (!this.#hasLog()) {
        save(this.#options.file, database);
        this.#isLogMended = true;
      }
    } catch {
      // The last connection to close tries once more
    }
    this.#close(database);
    return this.#isLogMended;
  }

  /** W2, as soon as W5 allows it. */
  #abandon(database: Database): void {
    this.#hasFailed = true;
    try {
      this.#leave(database);
    } catch {
      // It stays open: the next group tries again
    }
  }

  #leaveOrExplain(database: Database): void {
    try {
      this.#leave(database);
    } catch (error) {
      throw explain(this.#options.file, error);
    }
  }

  /** W5. Throws while the log cannot be brought over. */
  #leave(database: Database): void {
    const { file } = this.#options;
    const hasLog = this.#hasLog();
    if (!hasLog) save(file, database);
    this.#close(database);
    // What lies there holds nothing of ours: SQLite would replay it over the file
    if (!hasLog) rmSync(logOf(file), { force: true });
    this.#isLogMended ||= !hasLog;
  }

  #close(database: Database): void {
    this.#database = undefined;
    this.#group = undefined;
    database.close();
  }

  #hasLog(): boolean {
    return this.#options.file === ':memory:' || inodeOf(logOf(this.#options.file)) === this.#log;
  }

  /** W1, W4. */
  #refuseUnlessThere(): void {
    const { file } = this.#options;
    const { inode, bytes } = this.#look();
    if (inode !== this.#inode) throw gone(file);
    if (bytes < this.#bytes) throw cut(file);
    this.#bytes = bytes;
  }

  #look(): { readonly inode: number | undefined; readonly bytes: number } {
    if (this.#options.file === ':memory:') return { inode: 0, bytes: 1 };
    const found = statSync(this.#options.file, { throwIfNoEntry: false });
    return { inode: found?.ino, bytes: found?.size ?? 0 };
  }
}

const logOf = (file: string): string => `${file}-wal`;

const inodeOf = (path: string): number | undefined => statSync(path, { throwIfNoEntry: false })?.ino;

/** Brings all that the open log holds over into the file, synced, and leaves the log empty. */
function save(file: string, database: Database): void {
  const [answer] = database.pragma('wal_checkpoint(TRUNCATE)') as readonly { readonly busy: number }[];
  if (answer?.busy !== 0) throw unsaved(file);
}

function refuseUnlessWhole(file: string, database: Database): void {
  if (database.pragma('quick_check(1)', { simple: true }) !== 'ok') throw cut(file);
}

// These reach whoever asked over HTTP: a detail holds no path of the machine.
const cut = (file: string): SvcError =>
  new SvcError('storage_unavailable', `the database file ${basename(file)} was cut short while in use`, {
    hint: LOST_REMEDY,
  });

const gone = (file: string): SvcError =>
  new SvcError(
    'storage_unavailable',
    `the database file ${basename(file)} was moved, removed or replaced while in use`,
    {
      hint: LOST_REMEDY,
    },
  );

const unsaved = (file: string): SvcError =>
  new SvcError(
    'storage_unavailable',
    `the log ${basename(logOf(file))} was removed or replaced while in use, and cannot be brought over yet: the database is being read`,
    { hint: 'do not stop the host: it goes on by itself as soon as nobody reads the database' },
  );

function openOrExplain(file: string): Database {
  try {
    return openWritable(file);
  } catch (error) {
    throw explain(file, error);
  }
}

function explain(file: string, error: unknown): SvcError | MigrationDue {
  if (error instanceof SvcError || error instanceof MigrationDue) return error;
  const code = sqliteCode(error) ?? 'error';
  if (code.startsWith('SQLITE_CORRUPT') || code.startsWith('SQLITE_NOTADB')) {
    return new SvcError('database_corrupt', `the database ${basename(file)} is damaged (${code})`, {
      cause: error,
      hint: DAMAGED_REMEDY,
    });
  }
  const { message, hint } = storageFault(error);
  return new SvcError('storage_unavailable', `the database ${basename(file)} takes no writes: ${message} (${code})`, {
    cause: error,
    hint,
  });
}
