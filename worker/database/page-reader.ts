// Reads pages of an SQLite file with the committed frames of its WAL, as bytes. Serves to inspect a database that a running worker may have open. A
// connection, even a read-only one, would create `-wal` and `-shm` and could not remove them.
//
//   PAGE-READER-1  Reading has no effect: no lock is taken, SQLite opens nothing, no file is created or touched. Not for a process that has the
//                  database open: closing any descriptor of a file drops its POSIX locks.
//   PAGE-READER-2  Frames count up to the last commit with valid checksums, as in SQLite's recovery.
//   PAGE-READER-3  The WAL is read before the database file: pages that are checkpointed meanwhile are at least as new there.
import { closeSync, openSync, readFileSync, readSync } from 'node:fs';
import {
  FRAME_HEADER_BYTES,
  isCommit,
  isFrameOf,
  LOG_HEADER_BYTES,
  logChecksum,
  pageBytesOfLog,
} from './sqlite/wal/log-format.ts';

export interface Pages {
  /** Counted from 1. Throws if the page does not exist. */
  page(number: number): Buffer;
  close(): void;
}

const MAGIC = 'SQLite format 3\0';
const FILE_HEADER_BYTES = 100;

/** Undefined for an empty database. Throws what `node:fs` throws, and if the file is no SQLite database. */
export function openPages(file: string): Pages | undefined {
  const log = committedPages(readLog(`${file}-wal`));
  const descriptor = openSync(file, 'r');
  try {
    const first = log.get(1) ?? readAt(descriptor, { at: 0, bytes: FILE_HEADER_BYTES });
    if (first.length === 0) return closed(descriptor);
    if (first.length < FILE_HEADER_BYTES || first.toString('latin1', 0, MAGIC.length) !== MAGIC)
      throw new Error('it is not an SQLite database');
    const bytes = pageBytes(first.readUInt16BE(16));
    return {
      page(number) {
        const page = log.get(number) ?? readAt(descriptor, { at: (number - 1) * bytes, bytes });
        if (page.length < bytes) throw new Error(`page ${number} is not there`);
        return page;
      },
      close: () => closeSync(descriptor),
    };
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
}

/** 65,536 does not fit into two bytes: SQLite stores it as 1. */
const pageBytes = (stored: number): number => (stored === 1 ? 65_536 : stored);

function closed(descriptor: number): undefined {
  closeSync(descriptor);
  return undefined;
}

function readLog(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return Buffer.alloc(0);
    throw error;
  }
}

function readAt(descriptor: number, { at, bytes }: { readonly at: number; readonly bytes: number }): Buffer {
  const buffer = Buffer.alloc(bytes);
  return buffer.subarray(0, readSync(descriptor, buffer, 0, bytes, at));
}

/** The newest committed version of each page in a WAL. */
function committedPages(log: Buffer): ReadonlyMap<number, Buffer> {
  const committed = new Map<number, Buffer>();
  const sum = logChecksum(log);
  if (sum === undefined) return committed;
  const bytes = pageBytesOfLog(log);
  let pending: (readonly [number, Buffer])[] = [];
  for (let at = LOG_HEADER_BYTES; at + FRAME_HEADER_BYTES + bytes <= log.length; at += FRAME_HEADER_BYTES + bytes) {
    const frame = log.subarray(at, at + FRAME_HEADER_BYTES);
    const data = log.subarray(at + FRAME_HEADER_BYTES, at + FRAME_HEADER_BYTES + bytes);
    if (!isFrameOf(frame, log) || !sum.isOf(frame, data)) break;
    pending.push([log.readUInt32BE(at), data]);
    if (!isCommit(frame)) continue;
    for (const [number, page] of pending) committed.set(number, page);
    pending = [];
  }
  return committed;
}
