// The one writable connection: opened, migrated, watched for being taken away, opened again after a failure.
//
//   W1  No group is answered when the file it went into is no longer the file at its path (unlinked, replaced).
//   W2  After a failed group the connection is closed; the next group opens it anew, so that SQLite re-reads what the disk has.
//   W3  A database file that was there and is gone or empty is never made anew: that would be an empty history. Before this process:
//       shared/lost-history.ts.
//   W4  No group is answered when the file is shorter than it was: we never shorten it. Somebody else may (VACUUM), so it is opened
//       again once it is found whole.
import { statSync } from 'node:fs';
import { basename } from 'node:path';
import type { Database } from 'better-sqlite3';
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
    if (this.#database !== undefined) return this.#database;
    const { file } = this.#options;
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
    this.#bytes = bytes;
    this.#database = database;
    return database;
  }

  /** Throws SvcError; then nothing of the group may be taken as stored. */
  run(units: readonly Unit[]): GroupAnswer {
    this.open();
    const { file } = this.#options;
    try {
      this.#refuseUnlessThere();
      const answer = this.#group?.run(units);
      if (answer === undefined) throw gone(file);
      this.#refuseUnlessThere();
      return answer;
    } catch (error) {
      this.close();
      throw explain(file, error);
    }
  }

  close(): void {
    const database = this.#database;
    this.#database = undefined;
    this.#group = undefined;
    database?.close();
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

function refuseUnlessWhole(file: string, database: Database): void {
  if (database.pragma('quick_check(1)', { simple: true }) !== 'ok') throw cut(file);
}

// These reach whoever asked over HTTP: a detail holds no path of the machine.
const cut = (file: string): SvcError =>
  new SvcError('storage_unavailable', `the database file ${basename(file)} was cut short while in use`, {
    hint: 'put the file back as it was; or stop the host and restore a checkpoint',
  });

const gone = (file: string): SvcError =>
  new SvcError(
    'storage_unavailable',
    `the database file ${basename(file)} was moved, removed or replaced while in use`,
    {
      hint: 'put the file back as it was; or stop the host and restore a checkpoint',
    },
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
      hint: 'stop the host and restore a checkpoint; keep the damaged file',
    });
  }
  const { message, hint } = storageFault(error);
  return new SvcError('storage_unavailable', `the database ${basename(file)} takes no writes: ${message} (${code})`, {
    cause: error,
    hint,
  });
}
