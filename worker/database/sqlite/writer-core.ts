// The one writable connection. Opens and migrates the database, detects files that were removed or altered, and reopens after a failure.
//
//   WRITER-1  No group is answered if its database file is no longer the file at the path (unlinked, replaced).
//   WRITER-2  After a failed group the connection is closed, and the next group reopens it. So nothing in the memory of the failed connection is
//             relied on.
//   WRITER-3  A database file that disappears or is emptied at runtime is never created anew: the history would be empty. A start refuses an empty
//             file that held data before, and a missing file beside a WAL.
//   WRITER-4  No group is answered if the database file became shorter. Other programs may shorten it (VACUUM). So the file is reopened once an
//             integrity check passes.
//   WRITER-5  No group is answered if its WAL is no longer the file at the path. The next start would not find that WAL. The connection that has the
//             WAL open checkpoints it into the database file. Only then the connection is closed and a new WAL begins.
//   WRITER-6  Nothing is appended behind frames that only the page cache may have. So the whole WAL is checkpointed and emptied after a failed write.
//             A start does the same unless another program has the file open. An earlier process may have had a failed write.
//   WRITER-7  No group is answered if another program truncated or overwrote the WAL. The WAL is written again from memory. A group that was being
//             written meanwhile may have read altered pages. Then the WAL is written as it was before the group, and the process is killed. The next
//             process reads all anew.
//   WRITER-8  No group is answered if another program wrote the database file. The file is reopened once an integrity check passes. Only checkpoints
//             write the file, and the WAL tells whether one ran. A valid copy that was written over the file passes the check.
//   WRITER-9  While the WAL is pinned no checkpoint runs to keep it short: a reader has an old snapshot, so each would sync and free nothing. A WAL
//             beyond the limit of its pin breaks the pin.
import { rmSync } from 'node:fs';
import type { Database } from 'better-sqlite3';
import { noteHistory } from '../../../shared/files/lost-history.ts';
import { type Failpoint, failpointsOf } from '../../../shared/process/failpoints.ts';
import { isBehind, MigrationDue, migrate } from '../migrate.ts';
import { altered, explain, gone, unsaved, unsettled } from '../unavailable.ts';
import type { Unit } from '../unit.ts';
import { openWritable } from './connection.ts';
import { type GroupAnswer, GroupCommit } from './group-commit.ts';
import { NotedHistory } from './noted-history.ts';
import { OpenFile } from './open-file.ts';
import { cutUnsynced, emptyLog, forgetFailed, isLogLong, keepLogShort, logBytes } from './wal/checkpoint.ts';
import { settleLeft } from './wal/left-log.ts';
import { isLostNoted, logOf } from './wal/log-file.ts';
import { LostWrites } from './wal/lost-writes.ts';
import { OpenLog } from './wal/open-log.ts';

/** The file to write, as it is told to a writer thread. */
export interface WriterTarget {
  readonly file: string;
  /** Failpoints of the crash kit. */
  readonly failpoints?: string | undefined;
  /** Inode of the file that this process has had open before. Left out: any file, or a new one. */
  readonly inode?: number | undefined;
  /** Set after a failed write: so many bytes of the file were synced before (WRITER-6). */
  readonly syncedBytes?: number | undefined;
  /** Migrations of stored data are left to another thread: `open` throws MigrationDue. */
  readonly leavesMigrations?: boolean;
}

export interface WriterCoreOptions extends WriterTarget {
  /** Default: the wall clock. */
  readonly now?: () => number;
  /** Of a database in memory: what it begins with. */
  readonly content?: Buffer | undefined;
  /** Called between the statements and COMMIT; a throw counts as a failed sync. */
  readonly beforeCommit?: () => void;
}

/** A reopen after a failure keeps the core, which remembers the inode of its file. */
export class WriterCore {
  readonly #options: WriterCoreOptions;
  readonly #now: () => number;
  readonly #point: Failpoint | undefined;
  #database: Database | undefined;
  #group: GroupCommit | undefined;
  readonly #there: OpenFile;
  readonly #log: OpenLog;
  readonly #history: NotedHistory;
  /** The connection stays open only for the content of its WAL. */
  #hasFailed = false;
  /** An altered WAL was not written again yet. */
  #isLogAltered = false;
  /** A removed WAL was checkpointed, or an altered one written again. The next answer reports it. */
  #isLogMended = false;
  /** Failed writes that are not repaired yet (WRITER-6). */
  readonly #lost: LostWrites;
  /** Bytes of the database file that were synced. */
  #syncedBytes: number;
  #pinnedBytes: number | undefined;
  /** The next answer reports it. */
  #isPinBroken = false;

  constructor(options: WriterCoreOptions) {
    const { now = Date.now } = options;
    this.#options = options;
    this.#now = now;
    this.#point = FAILPOINTS ? failpointsOf(options.failpoints) : undefined;
    this.#there = new OpenFile(options.file, options.inode);
    this.#log = new OpenLog(options.file);
    this.#history = new NotedHistory(options.file, now);
    this.#lost = new LostWrites(options.file, options.syncedBytes !== undefined);
    this.#syncedBytes = options.syncedBytes ?? 0;
  }

  /** Inode of the opened file; undefined before the first open. */
  get inode(): number | undefined {
    return this.#there.inode;
  }

  /** Bytes that were synced before a failed write, for the next writer; undefined without a failed write. */
  get syncedBytes(): number | undefined {
    return this.#lost.any ? this.#syncedBytes : undefined;
  }

  /** WRITER-9. Undefined without a pin. */
  get pinnedBytes(): number | undefined {
    return this.#pinnedBytes;
  }

  pin(maxBytes: number | undefined): void {
    this.#pinnedBytes = maxBytes;
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
      migrate(database, this.#now());
      this.#there.refuseReplaced();
      this.#group = new GroupCommit(database, () => this.#beforeCommit());
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

  /** Another program may write to the WAL during a reopen (WRITER-7): then other data is read than was known. */
  #refuseShortened(database: Database, isFirst: boolean): void {
    try {
      this.#history.refuseShortened(database);
    } catch (error) {
      if (isFirst || !this.#log.isRestored()) throw error; // an older copy of the file: an operator must accept it
      this.#log.endRestored();
    }
  }

  #openOrExplain(): Database {
    const { file } = this.#options;
    try {
      if (this.#there.inode === undefined && !settleLeft(file) && (this.#lost.any || isLostNoted(file)))
        throw unsettled(file);
      return openWritable(file, undefined, { content: this.#options.content, isKnown: this.#there.isKnown });
    } catch (error) {
      this.#lost.note(error);
      throw explain(file, error);
    }
  }

  /** Throws SvcError; then nothing of the group counts as stored. */
  run(units: readonly Unit[]): GroupAnswer {
    const database = this.open(units.every(isQuestion));
    const { file } = this.#options;
    try {
      if (isLogLong(database) && !this.#isPinned(database)) this.#keepLogShort(database);
      this.#there.refuseUnlessThere(database);
      const answer = this.#group?.run(units);
      if (answer === undefined) throw gone(file);
      this.#there.refuseUnlessThere(database);
      this.#log.know(database);
      if (this.#log.isThere()) this.#refuseUnlessLogWhole(database);
      if (!this.#log.isThere()) save(file, database); // also if the WAL was removed during the check
      this.#history.committed(answer.head);
      const isLogMended = this.#isLogMended;
      const isPinBroken = this.#isPinBroken;
      this.#isLogMended = false;
      this.#isPinBroken = false;
      return isLogMended || isPinBroken ? { ...answer, isLogMended, isPinBroken } : answer;
    } catch (error) {
      this.#abandon(database, error);
      throw explain(file, error);
    }
  }

  #beforeCommit(): void {
    if (FAILPOINTS) void this.#point?.('writer.sync');
    this.#options.beforeCommit?.();
  }

  /** Call once the answer of a group is sent. */
  answered(): void {
    if (FAILPOINTS) void this.#point?.('writer.committed');
  }

  #isPinned(database: Database): boolean {
    if (this.#pinnedBytes === undefined) return false;
    if (logBytes(database) <= this.#pinnedBytes) return true;
    this.#pinnedBytes = undefined;
    this.#isPinBroken = true;
    return false;
  }

  /** True if no answer has reported a repaired WAL yet. */
  close(): boolean {
    const database = this.#database;
    if (database !== undefined) {
      try {
        this.#isLogMended = this.#secure(database) || this.#isLogMended;
      } catch {
        if (this.#isLogAltered) this.#log.end();
        // The last connection to close runs the checkpoint once more
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

  /** Closes the connection (WRITER-2) as soon as its WAL is safe (WRITER-5, WRITER-6). */
  #abandon(database: Database, error: unknown): void {
    this.#hasFailed = true;
    this.#lost.note(error);
    try {
      this.#leave(database);
    } catch {
      // The connection stays open: the next group tries again
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
    // The WAL at the path holds no commit of this process, and SQLite would replay it over the file
    if (isLogMended) rmSync(logOf(this.#options.file), { force: true });
    this.#isLogMended ||= isLogMended;
  }

  /**
   * Makes the WAL safe before a close. Returns whether a removed WAL was checkpointed (WRITER-5); throws while that is impossible. The last
   * connection to close runs a checkpoint, and SQLite reports neither a failed write nor altered frames. So both are repaired before (WRITER-6,
   * WRITER-7).
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
      this.#cutUnsynced(database); // a stop of the host closes the connection all the same
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

  /** Writes an altered WAL again before anything is read from it (WRITER-7). */
  #mendLog(database: Database): void {
    this.#isLogAltered = !this.#log.isWhole(database, true);
    if (!this.#isLogAltered) return;
    this.#log.restore();
    this.#isLogAltered = false;
    this.#isLogMended = true;
  }

  /** Throws if the WAL was altered. If frames were committed since the last check, they may hold altered pages: the process is killed (WRITER-7). */
  #refuseUnlessLogWhole(database: Database): void {
    if (this.#log.isWhole(database)) return;
    if (this.#log.hasMore(database)) this.#log.restoreAndEnd();
    throw altered(this.#options.file);
  }

  /** Runs a checkpoint. If the WAL was altered meanwhile, the copied pages may be wrong: the next process checkpoints the WAL again (WRITER-7). */
  #keepLogShort(database: Database): void {
    if (!this.#log.isWhole(database, true)) throw altered(this.#options.file);
    const isShort = keepLogShort(database);
    if (!this.#log.isWhole(database)) this.#log.restoreAndEnd();
    const bytes = this.#there.broughtOver(database);
    if (isShort) this.#syncedBytes = bytes;
  }
}

/** The host sends a unit without statements each second: then there is time to compare the whole WAL. */
const isQuestion = ({ statements }: Unit): boolean => statements.length === 0;

function save(file: string, database: Database): void {
  if (!emptyLog(database)) throw unsaved(file);
}
