// The one writable connection: opened, migrated, watched for being taken away, opened again after a failure.
//
//   W1  No group is answered when the file it went into is no longer the file at its path (unlinked, replaced).
//   W2  After a failed group the connection is closed; the next group opens it anew, so that nothing that this one kept in memory is relied on.
//   W3  A database file that was there and is gone or empty is never made anew: that would be an empty history. Before this process:
//       shared/files/lost-history.ts.
//   W4  No group is answered when the file is shorter than it was: we never shorten it. Somebody else may (VACUUM), so it is opened
//       again once it is found whole.
//   W5  No group is answered into a log that is no longer the one at its path: the next start would not find it. What such a log holds is
//       brought over into the file through the connection that has it open; that is left only then, and a new log begun.
//   W6  Nothing is appended behind what the disk may lack, although the kernel has it: after a write that failed, and at first, when a process
//       before this one may have met that, all is brought over into the file anew (checkpoint.ts, left-log.ts, lost-writes.ts).
//   W7  No group is answered into a log that somebody has truncated or overwritten (log-guard.ts). It is written again from memory. Where a group was
//       being written meanwhile, which may have read from it, the log is written as it was before, and the process ends: the next one reads all anew.
//   W8  No group is answered once somebody else has written the file itself: it is opened again once it is found whole. Only checkpoints write it, and
//       whether there was one the log tells. A copy that is whole by itself is not told from the file.
import { rmSync } from 'node:fs';
import type { Database } from 'better-sqlite3';
import { noteHistory } from '../../../shared/files/lost-history.ts';
import { isBehind, MigrationDue, migrate } from '../migrate.ts';
import { altered, explain, gone, unsaved, unsettled } from '../unavailable.ts';
import type { Unit } from '../unit.ts';
import { openWritable } from './connection.ts';
import { type GroupAnswer, GroupCommit } from './group-commit.ts';
import { NotedHistory } from './noted-history.ts';
import { OpenFile } from './open-file.ts';
import { cutUnsynced, emptyLog, forgetFailed, isLogLong, keepLogShort } from './wal/checkpoint.ts';
import { settleLeft } from './wal/left-log.ts';
import { isLostNoted, logOf } from './wal/log-file.ts';
import { LostWrites } from './wal/lost-writes.ts';
import { OpenLog } from './wal/open-log.ts';

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

export class WriterCore {
  readonly #options: WriterCoreOptions;
  #database: Database | undefined;
  #group: GroupCommit | undefined;
  readonly #there: OpenFile;
  readonly #log: OpenLog;
  readonly #history: NotedHistory;
  /** The connection is there only for what its log still holds. */
  #hasFailed = false;
  /** It was not written again yet. */
  #isLogAltered = false;
  /** A log that was taken away has been brought over, one that was altered is written again; the next answer tells. */
  #isLogMended = false;
  /** W6. */
  readonly #lost: LostWrites;
  /** So much of it was synced. */
  #syncedBytes: number;

  constructor(options: WriterCoreOptions) {
    this.#options = options;
    this.#there = new OpenFile(options.file, options.inode);
    this.#log = new OpenLog(options.file);
    this.#history = new NotedHistory(options.file, options.now);
    this.#lost = new LostWrites(options.file, options.syncedBytes !== undefined);
    this.#syncedBytes = options.syncedBytes ?? 0;
  }

  /** Of the file that it has had open; undefined before it was opened. */
  get inode(): number | undefined {
    return this.#there.inode;
  }

  /** See WriterCoreOptions, for whoever takes over. */
  get syncedBytes(): number | undefined {
    return this.#lost.any ? this.#syncedBytes : undefined;
  }

  /** Opens and migrates. Throws SvcError `schema_newer`, `database_corrupt`, `storage_unavailable`. Returns the connection. */
  open(looksAtAll = false): Database {
    const { file } = this.#options;
    if (this.#database !== undefined) {
      if (!this.#hasFailed && this.#isLogWhole(this.#database, looksAtAll)) return this.#database;
      this.#leaveOrExplain(this.#database);
    }
    const isFirst = this.#there.inode === undefined;
    const bytesBefore = this.#there.refuseOther();
    const database = this.#openOrExplain();
    this.#database = database;
    try {
      this.#log.opened(database);
      this.#there.refuseDamaged(database);
      if (bytesBefore > 0) this.#refuseShortened(database, isFirst);
      if (this.#lost.any && !isFirst) this.#settle(database);
      this.#lost.settled();
      if (this.#options.leavesMigrations === true && isBehind(database)) throw new MigrationDue();
      migrate(database, this.#options.now());
      this.#group = new GroupCommit(database, this.#options.beforeCommit);
    } catch (error) {
      this.#abandon(database, error);
      throw explain(file, error);
    }
    if (isFirst) noteHistory(file);
    this.#syncedBytes = this.#there.opened(database);
    this.#log.look();
    this.#history.opened(database);
    this.#hasFailed = false;
    return database;
  }

  /** Somebody may write to the log while it is opened again (W7): what is read then is not what was known. */
  #refuseShortened(database: Database, isFirst: boolean): void {
    try {
      this.#history.refuseShortened(database);
    } catch (error) {
      if (isFirst || !this.#log.isRestored()) throw error; // an older copy of the file: somebody has to take what is left
      this.#log.endRestored();
    }
  }

  #openOrExplain(): Database {
    const { file } = this.#options;
    try {
      if (this.#there.inode === undefined && !settleLeft(file) && (this.#lost.any || isLostNoted(file)))
        throw unsettled(file);
      return openWritable(file);
    } catch (error) {
      this.#lost.note(error);
      throw explain(file, error);
    }
  }

  /** Throws SvcError; then nothing of the group may be taken as stored. */
  run(units: readonly Unit[]): GroupAnswer {
    const database = this.open(units.every(isQuestion));
    const { file } = this.#options;
    try {
      if (isLogLong(database)) this.#keepLogShort(database);
      this.#there.refuseUnlessThere(database);
      const answer = this.#group?.run(units);
      if (answer === undefined) throw gone(file);
      this.#there.refuseUnlessThere(database);
      this.#log.know(database);
      if (this.#log.isThere()) this.#refuseUnlessLogWhole(database);
      if (!this.#log.isThere()) save(file, database); // also where it was removed during the look
      this.#history.committed(answer.head);
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
        if (this.#isLogAltered) this.#log.end();
        // The last connection to close tries once more
      }
      this.#close(database);
    }
    this.#lost.letGo();
    this.#log.letGo();
    if (!this.#hasFailed) this.#history.closed();
    return this.#isLogMended;
  }

  #settle(database: Database): void {
    this.#cutUnsynced(database);
    if (!emptyLog(database)) throw unsettled(this.#options.file);
  }

  #cutUnsynced(database: Database): void {
    const { file } = this.#options;
    if (this.#there.look().inode !== this.#there.inode) throw gone(file);
    cutUnsynced(file, database, this.#syncedBytes);
    this.#there.shortened();
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
   * Before a close. W5: whether a log that was taken away had to be brought over; throws while it cannot be. W6, W7: the last to close brings the log
   * over, and SQLite tells nobody whether that failed, or what it has read.
   */
  #secure(database: Database): boolean {
    if (this.#log.isThere()) this.#mendLog(database);
    const hasLog = this.#log.isThere();
    if (!hasLog) save(this.#options.file, database);
    else if (this.#lost.any && this.#log.isKept && this.#there.inode !== undefined) this.#leaveToMend(database);
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

  #isLogWhole(database: Database, all: boolean): boolean {
    try {
      return this.#log.isThere() && this.#log.isWhole(database, all);
    } catch (error) {
      throw explain(this.#options.file, error);
    }
  }

  /** W7, before anything is read from it. */
  #mendLog(database: Database): void {
    this.#isLogAltered = !this.#log.isWhole(database, true);
    if (!this.#isLogAltered) return;
    this.#log.restore();
    this.#isLogAltered = false;
    this.#isLogMended = true;
  }

  /** W7: what was committed since the last look may come from what somebody else has written. */
  #refuseUnlessLogWhole(database: Database): void {
    if (this.#log.isWhole(database)) return;
    if (this.#log.hasMore(database)) this.#log.restoreAndEnd();
    throw altered(this.#options.file);
  }

  /** W7: where what was brought over may come from somebody else, the next process brings all that the log held over once more. */
  #keepLogShort(database: Database): void {
    if (!this.#log.isWhole(database, true)) throw altered(this.#options.file);
    const isShort = keepLogShort(database);
    if (!this.#log.isWhole(database)) this.#log.restoreAndEnd();
    const bytes = this.#there.broughtOver(database);
    if (isShort) this.#syncedBytes = bytes;
  }
}

/** Of the host, each second: there is time to look at all. */
const isQuestion = ({ statements }: Unit): boolean => statements.length === 0;

function save(file: string, database: Database): void {
  if (!emptyLog(database)) throw unsaved(file);
}
