// Checkpoints: what the log holds is brought over into the file. We ask for each: those that SQLite makes by itself hide their failures.
//
//   K1  What a sync could not write the kernel takes for written. Blocks that were new then are not written by later syncs either, even once they
//       are written over (ext4, Linux 6.18): all is well until the next mount. Only other blocks help. So after a failed write, and after a
//       process that may have left one, the log is emptied before anything is appended, and before that the file loses its new blocks.
//   K2  Those are pages behind the last one that was synced. Cut off are only pages that the log has in frames not yet brought over: they
//       are written again. A kill on the way leaves the log as it was.
//   K3  Readers that are there read such pages in the log: the end that was synced is never cut off. Where it is not known see left-log.ts.
//   K4  What a reader keeps from being brought over whole SQLite does not sync, and never brings over again: so it is synced here. Where that fails only
//       a process that finds the log anew can mend it: this one is killed, for whatever closes the file would bring the rest over, and end the log.
//   K5  A group whose sync failed is whole in the kernel's copy of the log: whoever opens the file while nobody else has it open takes it for committed,
//       and may get a part of it into the file before the power goes, and with it the group. So its first frame is blanked as long as it is known
//       where it begins. A kill before that: left-log.ts.
import { closeSync, fstatSync, fsyncSync, ftruncateSync, openSync, readSync, statSync, writeSync } from 'node:fs';
import type { Database, Statement } from 'better-sqlite3';
import { faultCode } from '../../storage-fault.ts';
import { endAtOnce } from './end-at-once.ts';
import { logOf, noteLost, sizeOf } from './log-file.ts';
import { FRAME_HEADER_BYTES, LOG_HEADER_BYTES } from './log-format.ts';

/** Fewer bring those pages over again and again that every group changes, more hold up longer. */
const LONG_LOG_PAGES = 2_000;
const LOCK_BYTES_AT = 0x40_00_00_00;
const STDERR = 2;

/** In frames; -1 where there is no log. */
interface LogState {
  /** 1: somebody reads or writes. */
  readonly busy: number;
  readonly log: number;
  readonly checkpointed: number;
}

/** Whether there is a log at all: not in memory, and not on a disk on which processes cannot share memory. */
export const keepsLog = (database: Database): boolean => stateOf(database).log >= 0;

const checkpoint = (database: Database, mode: 'PASSIVE' | 'TRUNCATE'): LogState =>
  (database.pragma(`wal_checkpoint(${mode})`) as readonly LogState[])[0] as LogState;

/** Prepared once a connection: these are asked several times a group. */
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

/** Committed frames of the log. */
export const logFrames = (database: Database): number => Math.max(0, stateOf(database).log);

/** K4. */
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

/** Nothing is closed: that would bring over, unseen, what may not be. */
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

/** Brings over what no reader needs any more, once that is much: whether it did. Throws what SQLite throws. */
export const keepLogShort = (database: Database): boolean =>
  isLogLong(database) && bringOver(database, 'PASSIVE').checkpointed >= 0; // -1 while another program brings over

/** Brings all that the log holds over into the file, synced, and leaves the log empty; false while somebody reads or writes. */
export function emptyLog(database: Database): boolean {
  return bringOver(database, 'TRUNCATE').busy === 0;
}

/** As long is the log at least that this connection has open. */
export function logBytes(database: Database): number {
  const { log } = stateOf(database);
  return log === 0 ? 0 : frameAt(database, log);
}

/** K5. For the connection whose group failed, or one that was opened while that was open. */
export function forgetFailed(file: string, database: Database): void {
  const version = versionOf(database);
  const { log } = stateOf(database);
  database.exec('BEGIN IMMEDIATE');
  try {
    if (versionOf(database) === version) blankFrame(logOf(file), frameAt(database, log)); // or it is written over by another program
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

/** K1. `syncedBytes` of the file were synced. */
export function cutUnsynced(file: string, database: Database, syncedBytes: number): void {
  const pages = Number(database.pragma('page_count', { simple: true })); // a read: only then the state of the log is known
  const pageBytes = pageBytesOf(database);
  const { log, checkpointed } = stateOf(database);
  if (log <= checkpointed) return;
  const logged = loggedPages(logOf(file), { from: checkpointed, to: log, pageBytes });
  const lockPage = LOCK_BYTES_AT / pageBytes + 1; // holds nothing, ever
  let last = pages;
  while (last > 1 && (logged.has(last) || last === lockPage)) last -= 1; // the first was synced before there was a log
  const keeps = Math.max(last * pageBytes, syncedBytes);
  const { checkpointed: isNow } = stateOf(database);
  // Another program may bring over, too: then what was counted is in the file
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

/** Never closed: with any descriptor of the file that this process closes, SQLite loses its locks (POSIX). */
export function keptOpen(file: string): number {
  const known = kept.get(file);
  if (known !== undefined && known.inode === statSync(file).ino) return known.descriptor;
  const descriptor = openSync(file, 'r+');
  kept.set(file, { descriptor, inode: fstatSync(descriptor).ino });
  return descriptor;
}
