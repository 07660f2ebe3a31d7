// Checkpoints the WAL that an earlier process left, before anything is appended to it.
//
//   WAL-6  The WAL may hold frames that only the page cache has. A write failed, or was under way when the process was killed. So the WAL is first
//          copied to new blocks and synced. Only then pages may be cut off the database file that exist nowhere but in the WAL.
//   WAL-7  Nobody else may have the database open meanwhile. Readers would miss the pages that are cut off, and a writer would append to the replaced
//          WAL. If another program has it open, a start goes on without this step, since some programs read for days. After a failed write the
//          database stays closed instead. The failure is known from this process, or from a flag in the mode of the WAL.
//   WAL-8  A kill before the rename leaves the old WAL, and the next start copies again. A kill after the rename leaves a WAL that is on the disk.
//   WAL-9  Only frames with the salts of this WAL are copied. Frames behind them belong to an earlier WAL and are never read. So the copy takes no
//          more room than necessary.
//   WAL-10  If the copy cannot replace the WAL, the process is killed: a close would checkpoint unsynced frames unseen.
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

/** False if another program has the file open: then nothing was done. Throws what SQLite and `node:fs` throw. */
export function settleLeft(file: string): boolean {
  const log = logOf(file);
  if (sizeOf(file) === 0 || sizeOf(log) === 0) return true;
  keptOpen(file); // an error here comes before any change
  const copy = `${log}.new`;
  try {
    rmSync(copy, { force: true }); // left by a killed start; the new copy gets the mode of the WAL
    const before = markOf(log);
    copySynced(log, copy);
    const database = openAlone(file);
    try {
      if (markOf(log) !== before) copySynced(log, copy);
      renameSync(copy, log);
      syncFolder(dirname(log));
    } catch (error) {
      endToMend(file, { what: 'the log of the database cannot be replaced by its copy', error }); // a close would checkpoint unsynced frames (WAL-10)
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

/** The connection still has the replaced WAL open, which holds the same frames. */
function bringOverAll(file: string, database: ReturnType<typeof openAlone>): void {
  try {
    cutUnsynced(file, database, 0);
    emptyLog(database);
  } catch (error) {
    cutUnsynced(file, database, 0); // a close would checkpoint once more, unseen
    throw error;
  }
}

/** Copies byte by byte: on some file systems `copyFile` shares the blocks of the source. */
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
  /** Size of the database file after the checkpoint. */
  readonly fileBytes: number;
}

/** WAL-9: the bytes up to the last frame of this WAL. All bytes if the header is invalid. */
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

/** Bytes for the copy, and for the growth of the database file while the replaced WAL is still open. */
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
