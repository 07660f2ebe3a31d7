// Writes the change of an operator while the host does not answer: one unit, from a process that is no worker.
//
//   OUTSIDE-WRITER-1  Alone: no worker runs. The caller holds the writer lock, so this process is the only writer and does what a start does. A WAL
//                     that a crash left is checkpointed before anything is appended. The close runs a checkpoint, as a stop of the host does.
//   OUTSIDE-WRITER-2  Beside a worker: the worker holds the lock, and hangs, starts or is slow. The unit is a transaction of its own. Its fence is
//                     the number of that worker's start, so the unit is refused if another worker began since. The WAL belongs to the worker: nothing
//                     is checkpointed or removed here. SQLite runs a checkpoint when the last connection closes. So a read-only connection, which
//                     cannot, stays open until the writing one is closed.
//   OUTSIDE-WRITER-3  Each unit stores the position of its event in the counter `outside`. A worker that comes back reads the change from there.
//   OUTSIDE-WRITER-4  Nothing is appended to a WAL on which a failed write is noted: the worker repairs that WAL.
//   OUTSIDE-WRITER-5  Nothing is appended to a WAL that the worker does not have open.
//
// The state after a kill of this process:
//
//   killed                          | alone (OUTSIDE-WRITER-1)                     | beside a worker (OUTSIDE-WRITER-2)
//   before the transaction          | as after a start that was killed: the old    | nothing
//                                   | WAL, or its synced copy                      |
//   in the transaction              | nothing: frames without a commit are ignored, and the next writer overwrites them
//   in the fsync of COMMIT          | done or not done, never half: the checksums of the frames tell the next opener
//   after COMMIT, before the close  | done and on the disk; the next start finds   | done and on the disk; the worker
//                                   | the WAL                                      | goes on in the WAL
//   in the close                    | done; SQLite removes the WAL only after the  | done; the WAL stays
//                                   | database is synced                           |
//
// The kernel releases every lock with the process.
import type { Database } from 'better-sqlite3';
import { failpointsOf } from '../../shared/process/failpoints.ts';
import { SvcError } from '../../shared/svc-error.ts';
import { holdsAuthority, isFencedOut, readAuthority } from './authority.ts';
import type { SqliteReader } from './reader.ts';
import { openReadOnly, openWritable, sqliteCode } from './sqlite/connection.ts';
import { GroupCommit } from './sqlite/group-commit.ts';
import { forgetFailed, logBytes } from './sqlite/wal/checkpoint.ts';
import { isLostNoted, logOf, noteLost, sizeOf } from './sqlite/wal/log-file.ts';
import { WriterCore } from './sqlite/writer-core.ts';
import { sql, statement } from './statement.ts';
import { isFailedWrite, storageFault } from './storage-fault.ts';
import { unsaved, unsettled } from './unavailable.ts';
import type { Reader, Statement, Unit, UnitAnswer, Writer } from './unit.ts';

/** A worker that is stopped in the middle of a commit keeps the write lock of the WAL. */
export const OUTSIDE_BUSY_MS = 5_000;

const NAME = 'outside';

/** OUTSIDE-WRITER-3. The last statement of its unit. */
const noteOutside = (): Statement =>
  statement(
    sql
      .insertInto('counters')
      .values(({ selectFrom }) => ({
        name: NAME,
        value: selectFrom('counters').select('counters.value').where('counters.name', '=', 'event'),
      }))
      .onConflict((conflict) => conflict.column('name').doUpdateSet(({ ref }) => ({ value: ref('excluded.value') }))),
  );

/** Position of the last event that an outside process stored; 0 before the first. */
export const readOutside = async (reader: Reader): Promise<number> =>
  Number((await reader.first(sql.selectFrom('counters').select('value').where('name', '=', NAME)))?.value ?? 0);

interface OutsideOptions {
  readonly file: string;
  /** Closed before the WAL is settled, which requires that nobody has the file open. */
  readonly reader: SqliteReader;
  /** Whether this process holds the writer lock. */
  readonly isAlone: boolean;
  readonly failpoints?: string | undefined;
  readonly busyMs?: number;
}

/** Throws SvcError `storage_unavailable`, or `conflict` if another worker began meanwhile. Then nothing is stored. */
export async function outsideWriter({ isAlone, ...options }: OutsideOptions): Promise<Writer> {
  const authority = isAlone ? 0 : ((await readAuthority(options.reader)) ?? 0);
  const write = isAlone
    ? (unit: Unit) => writeAlone(options, unit)
    : (unit: Unit) => writeBeside(options, { ...unit, fence: holdsAuthority(authority) });
  return {
    async commit(unit) {
      const answer = write({ ...unit, statements: [...unit.statements, noteOutside()] });
      if (isFencedOut(answer)) throw beganAnew();
      return answer;
    },
    onHead: () => () => {},
  };
}

/** Writes as the only process (OUTSIDE-WRITER-1). */
function writeAlone({ file, reader, failpoints }: Omit<OutsideOptions, 'isAlone'>, unit: Unit): UnitAnswer {
  reader.close();
  const core = new WriterCore({ file, failpoints, leavesMigrations: true });
  try {
    core.open();
    const { answers } = core.run([unit]);
    core.answered();
    return only(answers);
  } finally {
    core.close();
  }
}

/** Writes while a worker holds the lock (OUTSIDE-WRITER-2). */
function writeBeside(options: Omit<OutsideOptions, 'isAlone'>, unit: Unit): UnitAnswer {
  const { file, busyMs = OUTSIDE_BUSY_MS } = options;
  if (isLostNoted(file)) throw unsettled(file); // nothing is appended behind a failed write (OUTSIDE-WRITER-4)
  const reading = openReadOnly(file, busyMs);
  try {
    reading.pragma('page_count'); // opens the WAL
    return writeOver({ ...options, busyMs }, unit);
  } catch (error) {
    throw error instanceof SvcError ? error : explain(error);
  } finally {
    reading.close();
  }
}

function writeOver({ file, failpoints, busyMs }: Omit<OutsideOptions, 'isAlone'>, unit: Unit): UnitAnswer {
  const point = FAILPOINTS ? failpointsOf(failpoints) : undefined;
  const database = openWritable(file, busyMs);
  try {
    if (sizeOf(logOf(file)) < logBytes(database)) throw unsaved(file); // the WAL that is open is not the one at the path (OUTSIDE-WRITER-5)
    const answer = new GroupCommit(database, FAILPOINTS ? () => void point?.('writer.sync') : undefined).run([unit]);
    if (FAILPOINTS) void point?.('writer.committed');
    return only(answer.answers);
  } catch (error) {
    leaveFailed(file, database, error);
    throw error;
  } finally {
    database.close();
  }
}

/**
 * Zeroes the first frame of a failed commit, so that nobody takes the commit for done. The note on the WAL prevents appends until a start has
 * repaired it.
 */
function leaveFailed(file: string, database: Database, error: unknown): void {
  if (!isFailedWrite(error)) return;
  noteLost(file);
  try {
    forgetFailed(file, database);
  } catch {
    // Another program writes: its frames replace the failed ones
  }
}

function only(answers: readonly UnitAnswer[]): UnitAnswer {
  const [answer] = answers;
  if (answer === undefined) throw new Error('a unit has no answer');
  return answer;
}

const beganAnew = (): SvcError =>
  new SvcError('conflict', 'the host began anew meanwhile: nothing was changed', {
    hint: 'run the command again: the new worker answers it',
    details: { beganAnew: true },
  });

/** Whether another worker took the authority since this writer was made. */
export const isBeganAnew = (error: unknown): boolean =>
  error instanceof SvcError && error.details['beganAnew'] === true;

function explain(error: unknown): SvcError {
  if (sqliteCode(error)?.startsWith('SQLITE_BUSY') === true)
    return new SvcError(
      'storage_unavailable',
      'a worker that does not answer holds the database: nothing was changed',
      {
        cause: error,
        hint: '`svc runtime stop` ends it, and loses nothing that was acknowledged; then run the command again',
      },
    );
  const { message, hint } = storageFault(error);
  return new SvcError('storage_unavailable', `the database takes no writes: ${message}`, { cause: error, hint });
}
