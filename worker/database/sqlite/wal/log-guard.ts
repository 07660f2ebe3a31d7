// Detects that another program altered the WAL, and writes it again from a copy in memory.
//
// Every program of this user can truncate or overwrite the WAL while it is in use. SQLite reads only the index of the WAL (-shm) and does not notice.
// A commit succeeds, and the next process finds a WAL that ends early. So the WAL is checked before each group and before its answer.
//
//   WAL-11  Before each answer the size, the WAL header and two frame headers are checked. The two frames are the last one of the former check, and
//           the last one now. All bytes are compared with the copy once a second, before a checkpoint, and before the connection is closed.
//   WAL-12  The WAL header changes only when SQLite restarts the WAL. A restart by this process increments the first salt, so no older copy has that
//           salt. Another program may choose new salts: after a commit of another connection any valid header is accepted.
//   WAL-13  The copy holds the WAL from its header to the last known frame. Its checksums are verified before it is written back.
//   WAL-14  A WAL longer than COPY_BYTES has no copy until SQLite restarts it. A reader that blocks checkpoints, or a copy of
//           the database (WRITER-9), lets it grow so long.
//   WAL-15  A kill while the copy is written back leaves a WAL that ends early, as the fault itself did. The next start detects that: the last event
//           number is noted beside the database.
import { closeSync, fstatSync, fsyncSync, ftruncateSync, openSync, readSync, writeSync } from 'node:fs';
import {
  FRAME_HEADER_BYTES,
  isChain,
  isCommit,
  isFollowing,
  isFrameOf,
  LOG_HEADER_BYTES,
  logChecksum,
  pageBytesOfLog,
} from './log-format.ts';

/** Twice the length at which the writer runs a checkpoint (2,000 pages of 8 KiB). */
const COPY_BYTES = 32 * 1_048_576;
const FIRST_COPY_BYTES = 65_536;
const CHUNK_BYTES = 1_048_576;
const NO_COPY = -1;

interface Mark {
  readonly header: Buffer;
  readonly frames: number;
  /** Header of the last frame. */
  readonly last: Buffer;
}

export class LogGuard {
  readonly inode: number;
  readonly #descriptor: number;
  readonly #pageBytes: number;
  #mark: Mark | undefined;
  #copy = Buffer.alloc(0);
  #copiedBytes = 0;
  #chunk: Buffer | undefined;
  readonly #header = Buffer.alloc(LOG_HEADER_BYTES);
  readonly #frame = Buffer.alloc(FRAME_HEADER_BYTES);

  constructor(path: string, pageBytes: number) {
    this.#descriptor = openSync(path, 'r+');
    this.inode = fstatSync(this.#descriptor).ino;
    this.#pageBytes = pageBytes;
  }

  /** Committed frames at the last check that found the WAL whole. */
  get frames(): number {
    return this.#mark?.frames ?? 0;
  }

  /**
   * Checks a WAL of `frames` committed frames and copies the new ones. `isByOthers`: another connection has committed. Throws what `node:fs` throws.
   */
  isWhole(frames: number, isByOthers = false): boolean {
    if (frames === 0) {
      this.#mark = undefined;
      this.#copiedBytes = 0;
      return true;
    }
    if (!this.#read(this.#header, 0)) return false;
    const known = this.#mark;
    const isSame = known?.header.equals(this.#header) === true;
    if (isSame && frames >= known.frames) {
      if (!this.#readFrame(known.frames) || !known.last.equals(this.#frame)) return false;
      if (frames === known.frames) return this.#isLongEnough(frames);
    } else if (!this.#isBegunAnew(isByOthers)) return false;
    if (!this.#readFrame(frames) || !isFrameOf(this.#frame, this.#header) || !isCommit(this.#frame)) return false;
    if (!isSame) this.#copiedBytes = 0;
    if (!this.#copyTo(frames)) return false;
    this.#mark = {
      header: isSame ? known.header : Buffer.from(this.#header),
      frames,
      last: Buffer.from(this.#frame),
    };
    return true;
  }

  /** WAL-11: compares all bytes with the copy. True without a copy. */
  isSame(): boolean {
    const bytes = this.#endOf(this.frames);
    if (this.#copiedBytes !== bytes) return true;
    this.#chunk ??= Buffer.allocUnsafeSlow(CHUNK_BYTES);
    for (let at = 0; at < bytes; at += CHUNK_BYTES) {
      const chunk = this.#chunk.subarray(0, Math.min(CHUNK_BYTES, bytes - at));
      if (!this.#read(chunk, at) || chunk.compare(this.#copy, at, at + chunk.length) !== 0) return false;
    }
    return true;
  }

  /** Writes the WAL back as it was last found whole, synced; false without a copy. Throws what `node:fs` throws. */
  restore(): boolean {
    const bytes = this.#endOf(this.frames);
    if (this.#mark === undefined || this.#copiedBytes !== bytes) return false;
    const log = this.#copy.subarray(0, bytes);
    if (!isChain(log, this.#pageBytes)) return false;
    for (let at = 0; at < bytes; ) at += writeSync(this.#descriptor, log, at, bytes - at, at);
    ftruncateSync(this.#descriptor, bytes);
    fsyncSync(this.#descriptor);
    return true;
  }

  close(): void {
    closeSync(this.#descriptor);
  }

  /** WAL-12: whether SQLite restarted the WAL. */
  #isBegunAnew(isByOthers: boolean): boolean {
    if (logChecksum(this.#header) === undefined || pageBytesOfLog(this.#header) !== this.#pageBytes) return false;
    return isByOthers || this.#mark === undefined || isFollowing(this.#header, this.#mark.header);
  }

  #endOf(frames: number): number {
    return LOG_HEADER_BYTES + frames * (FRAME_HEADER_BYTES + this.#pageBytes);
  }

  #isLongEnough(frames: number): boolean {
    return fstatSync(this.#descriptor).size >= this.#endOf(frames);
  }

  #readFrame(frame: number): boolean {
    return this.#read(this.#frame, this.#endOf(frame - 1));
  }

  #read(into: Buffer, at: number): boolean {
    return readSync(this.#descriptor, into, 0, into.length, at) === into.length;
  }

  /** WAL-14: extends the copy to `frames`. False if the WAL is shorter. */
  #copyTo(frames: number): boolean {
    const end = this.#endOf(frames);
    const isComplete = this.#copiedBytes === 0 || this.#copiedBytes === this.#endOf(this.frames);
    if (end > COPY_BYTES || !isComplete) {
      this.#copiedBytes = NO_COPY;
      return this.#isLongEnough(frames);
    }
    this.#makeRoom(end);
    const from = this.#copiedBytes;
    if (readSync(this.#descriptor, this.#copy, from, end - from, from) !== end - from) return false;
    this.#copiedBytes = end;
    return true;
  }

  #makeRoom(bytes: number): void {
    if (this.#copy.length >= bytes) return;
    let room = Math.max(FIRST_COPY_BYTES, this.#copy.length);
    while (room < bytes) room *= 2;
    const copy = Buffer.allocUnsafeSlow(room);
    this.#copy.copy(copy, 0, 0, this.#copiedBytes);
    this.#copy = copy;
  }
}
