// The log of SQLite (WAL) as its file format has it: https://sqlite.org/walformat.html. Pure.

export const LOG_HEADER_BYTES = 32;
export const FRAME_HEADER_BYTES = 24;

/** Its last bit says that checksums read words as big-endian. */
const MAGIC = 0x37_7f_06_82;
const PAGE_BYTES_AT = 8;
const SALTS_AT = 16;
const SALT_BYTES = 8;
/** Of the header: it is the sum of all before. */
const SUM_AT = 24;
const FRAME_PAGES_AT = 4;
const FRAME_SALTS_AT = 8;
const FRAME_SUM_AT = 16;
const WORD_BYTES = 4;
const HALF_RANGE = 0x80_00_00_00;

/** The sum over a log with this header, which runs on over all frames; undefined where that is no header. */
export function logChecksum(log: Buffer): Checksum | undefined {
  if (log.length < LOG_HEADER_BYTES) return undefined;
  const magic = log.readUInt32BE();
  if (magic !== MAGIC && magic !== MAGIC + 1) return undefined;
  const sum = new Checksum(magic !== MAGIC);
  sum.add(log.subarray(0, SUM_AT));
  return sum.is(log, SUM_AT) ? sum : undefined;
}

export const pageBytesOfLog = (header: Buffer): number => header.readUInt32BE(PAGE_BYTES_AT);

/** Whether SQLite began the log anew with `next`, after one with `former`. */
export function isFollowing(next: Buffer, former: Buffer): boolean {
  const steps = (next.readUInt32BE(SALTS_AT) - former.readUInt32BE(SALTS_AT)) >>> 0;
  return steps > 0 && steps < HALF_RANGE;
}

/** Whether the header of a frame belongs to the log with this header. */
export const isFrameOf = (frame: Buffer, header: Buffer): boolean =>
  frame.compare(header, SALTS_AT, SALTS_AT + SALT_BYTES, FRAME_SALTS_AT, FRAME_SALTS_AT + SALT_BYTES) === 0;

/** Of the file after this frame, where it ends a commit; else 0. */
export const pagesAfter = (frame: Buffer): number => frame.readUInt32BE(FRAME_PAGES_AT);

export const isCommit = (frame: Buffer): boolean => pagesAfter(frame) > 0;

/** Whether a log is whole to its end, by its checksums. */
export function isChain(log: Buffer, pageBytes: number): boolean {
  const sum = logChecksum(log);
  if (sum === undefined || pageBytesOfLog(log) !== pageBytes) return false;
  for (let at = LOG_HEADER_BYTES; at < log.length; at += FRAME_HEADER_BYTES + pageBytes) {
    const page = at + FRAME_HEADER_BYTES;
    if (!sum.isOf(log.subarray(at, page), log.subarray(page, page + pageBytes))) return false;
  }
  return true;
}

class Checksum {
  readonly #isBig: boolean;
  #first = 0;
  #second = 0;

  constructor(isBig: boolean) {
    this.#isBig = isBig;
  }

  /** Adds the next frame: whether its header has that sum. */
  isOf(frame: Buffer, page: Buffer): boolean {
    this.add(frame.subarray(0, FRAME_SALTS_AT));
    this.add(page);
    return this.is(frame, FRAME_SUM_AT);
  }

  add(bytes: Buffer): void {
    for (let at = 0; at < bytes.length; at += 2 * WORD_BYTES) {
      this.#first = (this.#first + this.#word(bytes, at) + this.#second) >>> 0;
      this.#second = (this.#second + this.#word(bytes, at + WORD_BYTES) + this.#first) >>> 0;
    }
  }

  is(bytes: Buffer, at: number): boolean {
    return bytes.readUInt32BE(at) === this.#first && bytes.readUInt32BE(at + WORD_BYTES) === this.#second;
  }

  #word(bytes: Buffer, at: number): number {
    return this.#isBig ? bytes.readUInt32BE(at) : bytes.readUInt32LE(at);
  }
}
