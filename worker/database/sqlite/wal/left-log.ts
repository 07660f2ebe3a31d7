// The log that a process before this one has left is brought over into the file before anything is appended to it (W6 of writer-core.ts).
//
//   L1  It may hold what only the kernel has (K1 of checkpoint.ts): a write that failed, or that was under way when its process was killed. So what it
//       holds is first written once more, to other blocks. Only then pages may be cut off the file that are nowhere but in the log.
//   L2  Nobody else may have the file open meanwhile: readers would miss what is cut off, and a writer would go on in the former log. Where somebody has,
//       a start goes on without, for some programs read for days; not where a write has failed, of this process or, as the log tells
//       (log-file.ts), of one before it.
//   L3  A kill before the copy takes the place of the log leaves all as it was, and the next start copies again; a kill behind it leaves a log that is on
//       the disk.
//   L4  Only frames of this log are copied: behind them lie those of one before it, which nobody reads. So the copy needs no more room than it must.
//   L5  Where the copy cannot take the place of the log, nothing may be closed either: the process is killed, as in K4.
import { closeSync, fsyncSync, openSync, readSync, renameSync, rmSync, statSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { syncFolder } from '../../../../shared/files/atomic-file.ts';
import { isFull } from '../../storage-fault.ts';
import { noRoomForCopy } from '../../unavailable.ts';
import { openAlone, sqliteCode } from '../connection.ts';
import { cutUnsynced, emptyLog, endToMend, keptOpen } from './checkpoint.ts';
import { logOf, sizeOf } from './log-file.ts';
import {
  FRAME_HEADER_BYTES,
  isFrameOf,
  LOG_HEADER_BYTES,
  logChecksum,
  pageBytesOfLog,
  pagesAfter,
} from './log-format.ts';

const CHUNK_BYTES = 1_048_576;

/** False where somebody has the file open: then nothing was done. Throws what SQLite and `node:fs` throw. */
export function settleLeft(file: string): boolean {
  const log = logOf(file);
  if (sizeOf(file) === 0 || sizeOf(log) === 0) return true;
  keptOpen(file); // fails, if it does, before anything is changed
  const copy = `${log}.new`;
  try {
    rmSync(copy, { force: true }); // of a start that was killed: the new one has the mode of the log
    const before = markOf(log);
    copySynced(log, copy);
    const database = openAlone(file);
    try {
      if (markOf(log) !== before) copySynced(log, copy);
      renameSync(copy, log);
      syncFolder(dirname(log));
    } catch (error) {
      endToMend(file, { what: 'the log of the database cannot be replaced by its copy', error }); // L5
    }
    try {
      bringOverAll(file, database);
    } finally {
      database.close();
    }
    return true;
  } catch (error) {
    rmSync(copy, { force: true });
    if (sqliteCode(error)?.startsWith('SQLITE_BUSY') === true) return false;
    if (isFull(error)) throw noRoomForCopy(file, roomToSettle(file));
    throw error;
  }
}

/** The connection reads the former log, which holds the same. */
function bringOverAll(file: string, database: ReturnType<typeof openAlone>): void {
  try {
    cutUnsynced(file, database, 0);
    emptyLog(database);
  } catch (error) {
    cutUnsynced(file, database, 0); // to close it is to bring over once more, unseen
    throw error;
  }
}

/** Not by the system's own copy: on some disks that shares the blocks. */
function copySynced(from: string, to: string): void {
  let left = usedOf(from).bytes;
  const source = openSync(from, 'r');
  try {
    const target = openSync(to, 'w', statSync(from).mode);
    try {
      const chunk = Buffer.alloc(CHUNK_BYTES);
      const next = (): number => readSync(source, chunk, 0, Math.min(chunk.length, left), null);
      for (let bytes = next(); bytes > 0; bytes = next()) {
        writeAll(target, chunk.subarray(0, bytes));
        left -= bytes;
      }
      fsyncSync(target);
    } finally {
      closeSync(target);
    }
  } finally {
    closeSync(source);
  }
}

interface Used {
  readonly bytes: number;
  /** So long is the file once it is brought over. */
  readonly fileBytes: number;
}

/** L4. All, where that is no log. */
function usedOf(log: string): Used {
  const all = sizeOf(log);
  const descriptor = openSync(log, 'r');
  try {
    const header = Buffer.alloc(LOG_HEADER_BYTES);
    const frame = Buffer.alloc(FRAME_HEADER_BYTES);
    readSync(descriptor, header, 0, header.length, 0);
    if (logChecksum(header) === undefined) return { bytes: all, fileBytes: 0 };
    const pageBytes = pageBytesOfLog(header);
    let bytes = LOG_HEADER_BYTES;
    let pages = 0;
    while (readSync(descriptor, frame, 0, frame.length, bytes) === frame.length && isFrameOf(frame, header)) {
      pages = Math.max(pages, pagesAfter(frame));
      bytes += FRAME_HEADER_BYTES + pageBytes;
    }
    return { bytes: Math.min(bytes, all), fileBytes: pages * pageBytes };
  } finally {
    closeSync(descriptor);
  }
}

/** For the copy, and for what the file grows by while the former log is open. */
function roomToSettle(file: string): number {
  const { bytes, fileBytes } = usedOf(logOf(file));
  return bytes + Math.max(0, fileBytes - sizeOf(file));
}

function writeAll(target: number, bytes: Buffer): void {
  for (let at = 0; at < bytes.length; ) at += writeSync(target, bytes, at);
}

function markOf(path: string): string {
  const { ino, size, mtimeNs } = statSync(path, { bigint: true });
  return `${ino} ${size} ${mtimeNs}`;
}
