// The one writable connection: opened, migrated, watched for being taken away, opened again after a failure.
//
//   W1  No group is answered when the file it went into is no longer the file at its path (unlinked, replaced).
//   W2  After a failed group the connection is closed; the next group opens it anew, so that nothing that this one kept in memory is relied on.
//   W3  A database file that was there and is gone or empty is never made anew: that would be an empty history. Before this process:
//       shared/lost-history.ts.
//   W4  No group is answered when the file is shorter than it was: we never shorten it. Somebody else may (VACUUM), so it is opened
//       again once it is found whole.
//   W5  No group is answered into a log that is no longer the one at its path: the next start would not find it. What such a log holds is
//       brought over into the file through the connection that has it open; that is left only then, and a new log begun.
//   W6  Nothing is appended behind what the disk may lack, although the kernel has it: after a write that failed, and at first, when a process
//       before this one may have met that, all is brought over into the file anew (checkpoint.ts, left-log.ts, lost-writes.ts).
import { rmSync, statSync } from 'node:fs';
import { basename } from 'node:path';
import type { Database } from 'better-sqlite3';
import { DAMAGED_REMEDY } from '../../shared/database-remedies.ts';
import { noteHistory } from '../../shared/lost-history.ts';
import { SvcError } from '../../shared/svc-error.ts';
import { cutUnsynced, emptyLog, forgetFailed, keepLogShort, keepsLog, logBytes } from './checkpoint.ts';
import { openWritable } from './connection.ts';
import { type GroupAnswer, GroupCommit } from './group-commit.ts';
import { settleLeft } from './left-log.ts';
import { isLostNoted, logOf, sizeOf } from './log-file.ts';
import { LostWrites } from './lost-writes.ts';
import { isBehind, migrate } from './migrate.ts';
import { faultCode, storageFault } from './storage-fault.ts';
import { cut, gone, unsaved, unsettled } from './unavailable.ts';
import type { Unit } from './unit.ts';

export interface WriterCoreOptions {
  readonly file: string;
  readonly now: () => number;
  /** The file as this process has had it open before; left out: whatever is there, or a new one. */
  readonly inode?: number | undefined;
  /** A write has failed since (W6), before which so much of the file was synced. */
  readonly syncedBytes?: number | undefined;
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
  /** As it was when it was opened. */
  #log: Log | undefined;
  /** It has a group of this connection. */
  #isLogKnown = false;
  /** Not in memory. */
  #keepsLog = false;
  /** The connection is there only for what its log still holds. */
  #hasFailed = false;
  /** A log that was taken away has been brought over; the next answer tells. */
  #isLogMended = false;
  /** The longest that it was while it was open. */
  #bytes = 0;
  /** W6. */
  readonly #lost: LostWrites;
  /** So much of it was synced. */
  #syncedBytes: number;

  constructor(options: WriterCoreOptions) {
    this.#options = options;
    this.#inode = options.inode;
    this.#lost = new LostWrites(options.file, options.syncedBytes !== undefined);
    this.#syncedBytes = options.syncedBytes ?? 0;
  }

  /** Of the file that it has had open; undefined before it was opened. */
  get inode(): number | undefined {
    return this.#inode;
  }

  /** See WriterCoreOptions, for whoever takes over. */
  get syncedBytes(): number | undefined {
    return this.#lost.any ? this.#syncedBytes : undefined;
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
    const database = this.#openOrExplain();
    this.#database = database;
    this.#log = lookAtLog(file);
    this.#isLogKnown = false;
    try {
      this.#keepsLog = keepsLog(database);
      if (before.bytes < this.#bytes) refuseUnlessWhole(file, database);
      if (this.#lost.any && this.#inode !== undefined) this.#settle(database);
      this.#lost.settled();
      if (this.#options.leavesMigrations === true && isBehind(database)) throw new MigrationDue();
      migrate(database, this.#options.now());
      this.#group = new GroupCommit(database, this.#options.beforeCommit);
    } catch (error) {
      this.#abandon(database, error);
      throw explain(file, error);
    }
    if (this.#inode === undefined) noteHistory(file);
    const { inode, bytes } = this.#look();
    this.#inode = inode;
    this.#log = lookAtLog(file);
    this.#bytes = bytes;
    this.#syncedBytes = bytes;
    this.#hasFailed = false;
    return database;
  }

  #openOrExplain(): Database {
    const { file } = this.#options;
    try {
      if (this.#inode === undefined && !settleLeft(file) && (this.#lost.any || isLostNoted(file)))
        throw unsettled(file);
      return openWritable(file);
    } catch (error) {
      this.#lost.note(error);
      throw explain(file, error);
    }
  }

  /** Throws SvcError; then nothing of the group may be taken as stored. */
  run(units: readonly Unit[]): GroupAnswer {
    const database = this.open();
    const { file } = this.#options;
    try {
      if (keepLogShort(database)) this.#syncedBytes = this.#look().bytes;
      this.#refuseUnlessThere();
      const answer = this.#group?.run(units);
      if (answer === undefined) throw gone(file);
      this.#refuseUnlessThere();
      this.#knowLog(database);
      if (!this.#hasLog()) save(file, database);
      const isLogMended = this.#isLogMended;
      this.#isLogMended = false;
      return isLogMended ? { ...answer, isLogMended } : answer;
    } catch (error) {
      this.#abandon(database, error);
      throw explain(file, error);
    }
  }

  /** True where a log that was taken away has been brought over, and no answer has told of it. */
  close(): boolean {
    const database = this.#database;
    if (database !== undefined) {
      try {
        this.#isLogMended = this.#secure(database) || this.#isLogMended;
      } catch {
        // The last connection to close tries once more
      }
      this.#close(database);
    }
    this.#lost.letGo();
    return this.#isLogMended;
  }

  #settle(database: Database): void {
    this.#cutUnsynced(database);
    if (!emptyLog(database)) throw unsettled(this.#options.file);
  }

  #cutUnsynced(database: Database): void {
    const { file } = this.#options;
    if (this.#look().inode !== this.#inode) throw gone(file);
    cutUnsynced(file, database, this.#syncedBytes);
    this.#bytes = Math.min(this.#bytes, this.#look().bytes);
  }

  /** W2, as soon as W5 and W6 allow it. */
  #abandon(database: Database, error: unknown): void {
    this.#hasFailed = true;
    this.#lost.note(error);
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

  #leave(database: Database): void {
    const isLogMended = this.#secure(database);
    this.#close(database);
    // What lies there holds nothing of ours: SQLite would replay it over the file
    if (isLogMended) rmSync(logOf(this.#options.file), { force: true });
    this.#isLogMended ||= isLogMended;
  }

  /**
   * Before a close. W5: whether a log that was taken away had to be brought over; throws while it cannot be. W6: the last to close brings the log over,
   * and SQLite tells nobody whether that failed.
   */
  #secure(database: Database): boolean {
    const hasLog = this.#hasLog();
    if (!hasLog) save(this.#options.file, database);
    else if (this.#lost.any && this.#keepsLog && this.#inode !== undefined) this.#leaveToMend(database);
    return !hasLog;
  }

  #leaveToMend(database: Database): void {
    try {
      this.#lost.hold();
    } catch (error) {
      this.#cutUnsynced(database); // whoever stops the host closes it all the same
      throw error;
    }
    forgetFailed(this.#options.file, database);
    this.#cutUnsynced(database);
  }

  #close(database: Database): void {
    this.#database = undefined;
    this.#group = undefined;
    database.close();
  }

  #hasLog(): boolean {
    return !this.#keepsLog || (this.#log !== undefined && inodeOf(this.#log.path) === this.#log.inode);
  }

  /** A log that somebody put there between the opening of ours and the look at it is known by its length, after the first group. */
  #knowLog(database: Database): void {
    if (this.#isLogKnown || !this.#keepsLog || this.#log === undefined) return;
    this.#isLogKnown = true;
    if (sizeOf(this.#log.path) < logBytes(database)) this.#log = undefined;
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

const inodeOf = (path: string): number | undefined => statSync(path, { throwIfNoEntry: false })?.ino;

interface Log {
  readonly path: string;
  readonly inode: number;
}

function lookAtLog(file: string): Log | undefined {
  const path = logOf(file);
  const inode = inodeOf(path);
  return inode === undefined ? undefined : { path, inode };
}

function save(file: string, database: Database): void {
  if (!emptyLog(database)) throw unsaved(file);
}

function refuseUnlessWhole(file: string, database: Database): void {
  if (database.pragma('quick_check(1)', { simple: true }) !== 'ok') throw cut(file);
}

function explain(file: string, error: unknown): SvcError | MigrationDue {
  if (error instanceof SvcError || error instanceof MigrationDue) return error;
  const code = faultCode(error);
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
