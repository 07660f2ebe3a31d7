// The writer lock: at most one live worker of a project holds it.
//
//   LOCK-1  The lock is `BEGIN EXCLUSIVE` on .svc/writer.lock. The kernel releases the lock when its holder dies. So a stale record, a reused
//           pid or a crash never blocks a start.
//   LOCK-2  .svc/worker.json names the holder (pid, start time, boot, owner), for messages only. The lock decides.
//   LOCK-3  No other code of the worker may open writer.lock: closing any descriptor of the file drops the lock (POSIX).
//   LOCK-4  A command of an operator holds the lock while it makes one change. A start waits for such a holder instead of failing.
//   LOCK-5  A command that finds a pending switch under the lock gives the lock back: it would open a database that is about to move.
import { accessSync, constants, existsSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Cut, ExitRecord } from '../../shared/api/control.ts';
import type { PreviousEnd } from '../../shared/api/ipc.ts';
import type { Mode } from '../../shared/config/mode.ts';
import { stableJson, writeFileAtomic } from '../../shared/files/atomic-file.ts';
import { RIGHTS_REMEDY } from '../../shared/files/database-remedies.ts';
import { fewFilesLeftIn, INODES_REMEDY } from '../../shared/files/free-files.ts';
import { readOwnFile } from '../../shared/files/own-file.ts';
import type { ProjectPaths } from '../../shared/files/paths.ts';
import { StateWatch } from '../../shared/files/state-watch.ts';
import { blockedReportPath } from '../../shared/log/report-folder.ts';
import { EXIT } from '../../shared/process/exit-codes.ts';
import { identify, isAlive, isElsewhere, type ProcessIdentity } from '../../shared/process/process-identity.ts';
import { pendingSwitch } from '../../shared/recovery/pending-switch.ts';
import { type Database, Sqlite } from '../../shared/sqlite.ts';
import { messageOf, SvcError } from '../../shared/svc-error.ts';
import { sqliteCode } from './sqlite/connection.ts';

/** The program that restarts a worker. */
export type RestartOwner = 'daemon' | 'systemd' | 'launchd' | 'container' | 'pm2' | 'foreground';

/** LOCK-4. The slowest part of a change is the copy of a WAL of about 16 MiB that a crash left. */
const PATIENCE_MS = 10_000;
/** One attempt waits so long for the lock before the record is read again. */
const LOOK_MS = 100;
const USABLE = constants.R_OK | constants.W_OK;

export interface WorkerRecord extends ProcessIdentity {
  readonly version: 1;
  readonly runtimeId: string;
  readonly owner: RestartOwner;
  readonly mode: Mode;
  readonly startedAt: string;
  /** How the worker ended. Missing while it runs, and after a kill. */
  readonly end?: {
    readonly code: number;
    readonly reason: string;
    readonly at: string;
    readonly cut: readonly Cut[];
  };
}

export interface WriterLock {
  /** The record of the previous holder, if there was one. */
  readonly former: WorkerRecord | undefined;
  /** Records how this worker ends. The end of the process releases the lock. */
  ending(code: number, reason: string, cut?: readonly Cut[]): void;
  release(): void;
}

/** Takes the lock or throws `already_running`, naming the holder. */
export function acquireWriterLock(
  paths: ProjectPaths,
  holder: Pick<WorkerRecord, 'runtimeId' | 'owner' | 'mode'>,
): WriterLock {
  const database = lockForSwitch(paths);
  const former = readWorkerRecord(paths);
  const identity = identify(process.pid) ?? { pid: process.pid, start: 'unknown', boot: 'unknown' };
  const record: WorkerRecord = { version: 1, ...identity, ...holder, startedAt: new Date().toISOString() };
  write(paths, record);
  const folder = new StateWatch(paths.stateDir); // a folder that replaced this one has the record of another holder
  return {
    former,
    ending(code, reason, cut = []) {
      const end = { code, reason, at: new Date().toISOString(), cut };
      const isOurs = (readWorkerRecord(paths)?.runtimeId ?? holder.runtimeId) === holder.runtimeId; // otherwise this worker had lost the lock
      if (folder.isThere() && isOurs) write(paths, { ...record, end });
    },
    release: () => database.close(),
  };
}

/**
 * Takes the lock without a record of its holder; closing the connection releases it. Waits for a holder that is no live worker (LOCK-4). Throws
 * `already_running`, `storage_unavailable` and `switch_pending` (LOCK-5).
 */
export function lockWriter(paths: ProjectPaths): Database {
  const database = lockForSwitch(paths);
  if (!existsSync(paths.pendingSwitch)) return database;
  database.close();
  throw pendingSwitch(paths.pendingSwitch);
}

/** As `lockWriter`, for a start or a command that finishes a pending switch. */
export function lockForSwitch(paths: ProjectPaths): Database {
  const database = open(paths.writerLock);
  try {
    database.pragma(`busy_timeout = ${LOOK_MS}`);
    const endsAt = performance.now() + PATIENCE_MS;
    while (!isLocked(database)) {
      const holder = liveHolder(paths);
      if (holder !== undefined || performance.now() > endsAt) throw alreadyRunning(holder ?? outsideHolder(paths));
    }
    return database;
  } catch (error) {
    database.close();
    if (error instanceof SvcError) throw error;
    throw new SvcError('storage_unavailable', `cannot lock ${paths.writerLock}: ${String(error)}`, { cause: error });
  }
}

function isLocked(database: Database): boolean {
  try {
    database.pragma('journal_mode = MEMORY'); // nothing is ever committed, and a full disk has no room for a journal file
    database.exec('BEGIN EXCLUSIVE');
    return true;
  } catch (error) {
    if (isBusy(error)) return false;
    throw error;
  }
}

function liveHolder(paths: ProjectPaths): WorkerRecord | undefined {
  const record = readWorkerRecord(paths);
  return record !== undefined && isAlive(record) ? record : undefined;
}

/** The holder by its record, where it is of another container that has the same volume. */
function outsideHolder(paths: ProjectPaths): WorkerRecord | undefined {
  const record = readWorkerRecord(paths);
  return record !== undefined && record.end === undefined && isElsewhere(record) ? record : undefined;
}

/** Whether another process holds the lock. A holder must not ask: it would drop its own lock (LOCK-3). */
export function isWriterLocked({ writerLock }: Pick<ProjectPaths, 'writerLock'>): boolean {
  if (!existsSync(writerLock)) return false;
  let database: Database | undefined;
  try {
    database = new Sqlite(writerLock, { timeout: 0, fileMustExist: true });
    database.pragma('schema_version'); // a read, which an exclusive lock refuses
    return false;
  } catch (error) {
    return isBusy(error);
  } finally {
    database?.close();
  }
}

/** SQLite does not report why an open failed. And it opens a file that is only readable, which locks nobody out. */
function open(path: string): Database {
  let database: Database | undefined;
  try {
    database = new Sqlite(path, { timeout: 0 });
    accessSync(path, USABLE);
    return database;
  } catch (error) {
    database?.close();
    if (error instanceof SvcError) throw error;
    const fewFiles = existsSync(path) ? undefined : fewFilesLeftIn(dirname(path));
    const message = `${path} cannot be opened: ${fewFiles ?? messageOf(whyNot(path) ?? error)}`;
    const hint = fewFiles === undefined ? RIGHTS_REMEDY : INODES_REMEDY;
    throw new SvcError('storage_unavailable', message, { cause: error, hint });
  }
}

/** Finds the reason without opening the file (LOCK-3). */
function whyNot(path: string): unknown {
  for (const place of [path, dirname(path)])
    try {
      accessSync(place, USABLE);
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) return error;
    }
  return undefined;
}

/** The record; undefined if it is missing or unreadable. */
export function readWorkerRecord(paths: Pick<ProjectPaths, 'workerRecord'>): WorkerRecord | undefined {
  try {
    const value: unknown = JSON.parse(readOwnFile(paths.workerRecord));
    return isWorkerRecord(value) ? value : undefined;
  } catch {
    return undefined; // LOCK-2: the record is only a hint
  }
}

function alreadyRunning(known: WorkerRecord | undefined): SvcError {
  if (known !== undefined && isElsewhere(known))
    return new SvcError(
      'already_running',
      `this project is already running in another container, started by ${known.owner} in mode ${known.mode} at ${known.startedAt}`,
      {
        hint: 'one volume serves one host: end the other pod or container, then start this one again',
        details: { owner: known.owner },
      },
    );
  const who =
    known === undefined
      ? 'by a process that has not said yet who it is'
      : `as pid ${known.pid}, started by ${known.owner} in mode ${known.mode} at ${known.startedAt}`;
  return new SvcError('already_running', `this project is already running ${who}`, {
    hint: '`svc runtime status` shows it, `svc runtime stop` ends it',
    details: known === undefined ? {} : { pid: known.pid, owner: known.owner },
  });
}

function write(paths: ProjectPaths, record: WorkerRecord): void {
  try {
    writeFileAtomic(paths.workerRecord, stableJson(record), { durable: false });
  } catch {
    // A full disk stops no worker: the record is only a hint
  }
}

const isBusy = (error: unknown): boolean => sqliteCode(error)?.startsWith('SQLITE_BUSY') === true;

function isWorkerRecord(value: unknown): value is WorkerRecord {
  if (typeof value !== 'object' || value === null) return false;
  const { version, pid, start, boot, owner, mode, startedAt } = value as Record<string, unknown>;
  return (
    version === 1 &&
    typeof pid === 'number' &&
    [start, boot, owner, mode, startedAt].every((field) => typeof field === 'string')
  );
}

/** The end of this worker as its supervisor noted it: a killed worker cannot record its own end. */
function notedEnd(
  { supervisorRecord }: Pick<ProjectPaths, 'supervisorRecord'>,
  { runtimeId }: WorkerRecord,
): PreviousEnd | undefined {
  try {
    const { exits } = JSON.parse(readOwnFile(supervisorRecord)) as { readonly exits: readonly ExitRecord[] };
    const noted = exits.find((exit) => exit.runtimeId === runtimeId);
    return noted && { end: noted.reason, code: noted.code, signal: noted.signal, detail: noted.detail };
  } catch {
    return undefined; // no record, or one of another version
  }
}

/**
 * The end of the previous holder: as its supervisor saw it, or else as its own record tells. `seen`: the last end that the present supervisor knows.
 */
export function formerEnd(
  paths: Pick<ProjectPaths, 'supervisorRecord' | 'reportsDir'>,
  { former }: Pick<WriterLock, 'former'>,
  seen: PreviousEnd | undefined,
): PreviousEnd {
  if (former === undefined) return seen ?? FIRST;
  const known = seen !== undefined && isOf(former, seen) ? seen : notedEnd(paths, former);
  if (known !== undefined) return known;
  if (former.end === undefined)
    return {
      end: 'crashed',
      code: null,
      signal: null,
      detail: `pid ${former.pid} ended without a word${silence(paths, former)}`,
    };
  return {
    end: ENDS[former.end.code] ?? 'crashed',
    code: former.end.code,
    signal: null,
    detail: former.end.reason,
  };
}

/** The report of a worker whose event loop was blocked when it ended. */
function silence({ reportsDir }: Pick<ProjectPaths, 'reportsDir'>, { runtimeId }: WorkerRecord): string {
  const report = blockedReportPath(reportsDir, runtimeId);
  try {
    const { state } = JSON.parse(readOwnFile(report)) as { readonly state?: unknown };
    return state === 'silent' ? `, while its event loop was blocked: ${report}` : '';
  } catch {
    return ''; // there is none
  }
}

/**
 * Whether `seen` is the end of `former`: the same owner, and a worker that held the lock. A worker without the lock has no row in the ledger of
 * starts.
 */
const isOf = (former: WorkerRecord, { end, runtimeId }: PreviousEnd): boolean =>
  former.owner === 'daemon' && end !== 'first' && (runtimeId === undefined || runtimeId === former.runtimeId);

const FIRST: PreviousEnd = { end: 'first', code: null, signal: null, detail: null };
const ENDS: Readonly<Record<number, string>> = {
  [EXIT.ok]: 'stopped',
  [EXIT.restartRequested]: 'restart_requested',
  [EXIT.restartRequired]: 'restart_required',
  [EXIT.config]: 'config',
  [EXIT.forced]: 'stopped',
};
