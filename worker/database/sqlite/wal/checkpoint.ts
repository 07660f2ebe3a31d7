// Checkpoints: SQLite copies frames of the write-ahead log (WAL) into the database file. svc starts each checkpoint itself, since SQLite's automatic
// checkpoints hide their errors.
//
//   WAL-1  After a failed fsync the kernel takes the page for written: later fsyncs skip it. Newly allocated blocks stay unwritten even after they
//          are overwritten (ext4, Linux 6.18). The loss shows at the next mount, and only other blocks help. So a WAL that may hold such pages is
//          emptied before anything is appended. Before that the database file is cut to lose its new blocks.
//   WAL-2  New blocks are pages behind the last synced page. A page is cut off only if the WAL has a frame of it that is not checkpointed. The next
//          checkpoint writes that page again. A kill in between leaves the WAL unchanged.
//   WAL-3  Open readers find those pages in the WAL. They may read pages below the synced size in the file, so the file is never cut below that size.
//          At a start the synced size is unknown: then nobody else may have the file open (WAL-7).
//   WAL-4  If a reader blocks a full checkpoint, SQLite does not sync the copied pages and never copies them again. So the database file is synced
//          here. If that sync fails, only a process that reads the WAL anew can repair it. So this process is killed: any close of the file would
//          finish the checkpoint and delete the WAL.
//   WAL-5  If the fsync of a group fails, its frames stay whole in the page cache. The next opener would take those frames for committed. It could
//          checkpoint a part of them before a power cut drops the rest. So the header of the group's first frame is zeroed while its offset is known.
//          After a kill before that, the next start copies the WAL to new blocks (WAL-6).
import { closeSync, fstatSync, fsyncSync, ftruncateSync, openSync, readSync, statSync, writeSync } from 'node:fs';
import type { Database, Statement } from 'better-sqlite3';
import { faultCode } from '../../storage-fault.ts';
import { endAtOnce } from './end-at-once.ts';
import { logOf, noteLost, sizeOf } from './log-file.ts';
import { FRAME_HEADER_BYTES, LOG_HEADER_BYTES } from './log-format.ts';

/** A smaller limit checkpoints frequently changed pages too often. A larger limit makes each checkpoint longer. */
const LONG_LOG_PAGES = 2_000;
const LOCK_BYTES_AT = 0x40_00_00_00;
const STDERR = 2;

/** In frames; -1 without a WAL. */
interface LogState {
  /** 1: another connection reads or writes. */
  readonly busy: number;
  readonly log: number;
  readonly checkpointed: number;
}

/** Whether the database has a WAL: false in memory, and on a file system without shared memory between processes. */
export const keepsLog = (database: Database): boolean => stateOf(database).log >= 0;

const checkpoint = (database: Database, mode: 'PASSIVE' | 'TRUNCATE'): LogState =>
  (database.pragma(`wal_checkpoint(${mode})`) as readonly LogState[])[0] as LogState;

/** Prepared once a connection: each group asks them several times. */
const questions = new WeakMap<Database, { readonly state: Statement; readonly version: Statement }>();

function questionsOf(database: Database): { readonly state: Statement; readonly version: Statement } {
  let asked = questions.get(database);
  if (asked === undefined) {
    asked = {
      state: database.prepare('PRAGMA wal_checkpoint(NOOP)'),
      version: database.prepare('PRAGMA data_version').pluck(),
    };
    questions.set(database, asked);
  }
  return asked;
}

export const logState = (database: Database): Pick<LogState, 'log' | 'checkpointed'> => stateOf(database);

const stateOf = (database: Database): LogState => questionsOf(database).state.get() as LogState;

/** Changes with each commit of another connection. */
export const versionOf = (database: Database): unknown => questionsOf(database).version.get();

/** Committed frames of the WAL. */
export const logFrames = (database: Database): number => Math.max(0, stateOf(database).log);

/** Runs a checkpoint, and syncs the copied pages if a reader blocked it (WAL-4). */
function bringOver(database: Database, mode: 'PASSIVE' | 'TRUNCATE'): LogState {
  const state = checkpoint(database, mode);
  if (state.checkpointed === state.log) return state;
  try {
    fsyncSync(keptOpen(database.name));
  } catch (error) {
    endToMend(database.name, { what: 'the database cannot be synced', error });
  }
  return state;
}

/** Kills the process and closes nothing: a close would checkpoint unseen. The next process repairs the WAL. */
export function endToMend(file: string, { what, error }: { readonly what: string; readonly error?: unknown }): never {
  try {
    noteLost(file);
    const code = error === undefined ? '' : ` (${faultCode(error)})`;
    writeSync(STDERR, `svc: ${what}${code}: the worker ends, the next one mends it\n`);
  } finally {
    endAtOnce();
  }
}

export const pageBytesOf = (database: Database): number => Number(database.pragma('page_size', { simple: true }));

export function isLogLong(database: Database): boolean {
  const { log, checkpointed } = stateOf(database);
  return log - checkpointed >= LONG_LOG_PAGES;
}

/** Checkpoints a long WAL as far as readers allow. Returns whether a checkpoint ran. Throws what SQLite throws. */
export const keepLogShort = (database: Database): boolean =>
  isLogLong(database) && bringOver(database, 'PASSIVE').checkpointed >= 0; // -1 while another program runs a checkpoint

/** Checkpoints and empties the whole WAL, synced. Returns false while another connection reads or writes. */
export function emptyLog(database: Database): boolean {
  return bringOver(database, 'TRUNCATE').busy === 0;
}

/** Least length in bytes of the WAL that this connection has open. */
export function logBytes(database: Database): number {
  const { log } = stateOf(database);
  return log === 0 ? 0 : frameAt(database, log);
}

/** WAL-5: zeroes the first frame of the failed group. Takes the connection of that group, or one opened while that was open. */
export function forgetFailed(file: string, database: Database): void {
  const version = versionOf(database);
  const { log } = stateOf(database);
  database.exec('BEGIN IMMEDIATE');
  try {
    if (versionOf(database) === version) blankFrame(logOf(file), frameAt(database, log)); // otherwise another program has overwritten the frame
  } finally {
    database.exec('ROLLBACK');
  }
}

const frameAt = (database: Database, frame: number): number =>
  LOG_HEADER_BYTES + frame * (FRAME_HEADER_BYTES + pageBytesOf(database));

function blankFrame(logFile: string, at: number): void {
  if (sizeOf(logFile) <= at) return;
  const descriptor = openSync(logFile, 'r+');
  try {
    writeSync(descriptor, Buffer.alloc(FRAME_HEADER_BYTES), 0, FRAME_HEADER_BYTES, at);
  } finally {
    closeSync(descriptor);
  }
}

/** WAL-1: cuts off pages that the disk may lack. `syncedBytes` of the file were synced. */
export function cutUnsynced(file: string, database: Database, syncedBytes: number): void {
  const pages = Number(database.pragma('page_count', { simple: true })); // a read: only then SQLite knows the state of the WAL
  const pageBytes = pageBytesOf(database);
  const { log, checkpointed } = stateOf(database);
  if (log <= checkpointed) return;
  const logged = loggedPages(logOf(file), { from: checkpointed, to: log, pageBytes });
  const lockPage = LOCK_BYTES_AT / pageBytes + 1; // never holds data
  let last = pages;
  while (last > 1 && (logged.has(last) || last === lockPage)) last -= 1; // page 1 was synced before the WAL existed
  const keeps = Math.max(last * pageBytes, syncedBytes);
  const { checkpointed: isNow } = stateOf(database);
  // After a checkpoint of another program the counted pages are in the file: then nothing is cut
  if (isNow === checkpointed && sizeOf(file) > keeps) ftruncateSync(keptOpen(file), keeps);
}

function loggedPages(
  logFile: string,
  { from, to, pageBytes }: { readonly from: number; readonly to: number; readonly pageBytes: number },
): ReadonlySet<number> {
  const descriptor = openSync(logFile, 'r');
  try {
    const header = Buffer.alloc(4);
    const pages = new Set<number>();
    for (let frame = from; frame < to; frame += 1) {
      const at = LOG_HEADER_BYTES + frame * (FRAME_HEADER_BYTES + pageBytes);
      if (readSync(descriptor, header, 0, header.length, at) === header.length) pages.add(header.readUInt32BE());
    }
    return pages;
  } finally {
    closeSync(descriptor);
  }
}

const kept = new Map<string, { readonly descriptor: number; readonly inode: number }>();

/** Never closed: closing any descriptor of the file drops SQLite's POSIX locks of this process. */
export function keptOpen(file: string): number {
  const known = kept.get(file);
  if (known !== undefined && known.inode === statSync(file).ino) return known.descriptor;
  const descriptor = openSync(file, 'r+');
  kept.set(file, { descriptor, inode: fstatSync(descriptor).ino });
  return descriptor;
}
