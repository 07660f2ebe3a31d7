// Whether the log (WAL) is still the one that this process wrote, and a copy of it in memory, to write it again.
//
// Anybody with the rights of this user can truncate or overwrite the log while it is in use. SQLite reads the log's index alone and notices nothing: a
// commit succeeds, and the next process finds a log that ends early. So the log is looked at before each group and before its answer.
//
//   G1  Before each answer the size, the header, and the header of the last frame are looked at, as they were known before and as they are now. All of
//       it is compared with the copy where that costs little: once a second, before it is brought over, and once SQLite calls the file damaged.
//   G2  The header changes only where SQLite begins the log anew. This process then counts its first salt up, which no older copy of the log has.
//       Another program may choose new salts: any sound header is taken once one has committed.
//   G3  The copy holds the log from its header to the last known frame. It is verified by the checksums of the log before it is written back.
//   G4  A log longer than COPY_BYTES, which only a reader causes that holds up checkpoints, has no copy until it is begun anew.
//   G5  A kill while the copy is written back leaves a log that ends early, as the fault itself did: see noted-history.ts.
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

/** Twice what a checkpoint is made for (LONG_LOG_PAGES of checkpoint.ts). */
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

  /** Committed frames as of the last look that found the log whole. */
  get frames(): number {
    return this.#mark?.frames ?? 0;
  }

  /** `frames` are committed. What is whole is known from now on. Throws what `node:fs` throws. */
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

  /** G1. True, too, where there is no copy. */
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

  /** Writes the log as it was last known to be whole; false where there is no copy. Throws what `node:fs` throws. */
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

  /** G2. */
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

  /** G4. False where the log is shorter. */
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
