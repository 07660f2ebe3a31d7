// File format of SQLite's write-ahead log (WAL): https://sqlite.org/walformat.html. Pure functions.

export const LOG_HEADER_BYTES = 32;
export const FRAME_HEADER_BYTES = 24;

/** The last bit tells that checksums read words as big-endian. */
const MAGIC = 0x37_7f_06_82;
const PAGE_BYTES_AT = 8;
const SALTS_AT = 16;
const SALT_BYTES = 8;
/** The header's checksum covers all bytes before it. */
const SUM_AT = 24;
const FRAME_PAGES_AT = 4;
const FRAME_SALTS_AT = 8;
const FRAME_SUM_AT = 16;
const WORD_BYTES = 4;
const HALF_RANGE = 0x80_00_00_00;

/** Checksum after the WAL header, which each frame continues; undefined if the header is invalid. */
export function logChecksum(log: Buffer): Checksum | undefined {
  if (log.length < LOG_HEADER_BYTES) return undefined;
  const magic = log.readUInt32BE();
  if (magic !== MAGIC && magic !== MAGIC + 1) return undefined;
  const sum = new Checksum(magic !== MAGIC);
  sum.add(log.subarray(0, SUM_AT));
  return sum.is(log, SUM_AT) ? sum : undefined;
}

export const pageBytesOfLog = (header: Buffer): number => header.readUInt32BE(PAGE_BYTES_AT);

/** Whether SQLite restarted the WAL with header `next` after header `former`: each restart increments the first salt. */
export function isFollowing(next: Buffer, former: Buffer): boolean {
  const steps = (next.readUInt32BE(SALTS_AT) - former.readUInt32BE(SALTS_AT)) >>> 0;
  return steps > 0 && steps < HALF_RANGE;
}

/** Whether a frame has the salts of this WAL header. */
export const isFrameOf = (frame: Buffer, header: Buffer): boolean =>
  frame.compare(header, SALTS_AT, SALTS_AT + SALT_BYTES, FRAME_SALTS_AT, FRAME_SALTS_AT + SALT_BYTES) === 0;

/** Pages of the database after this frame if it ends a commit; otherwise 0. */
export const pagesAfter = (frame: Buffer): number => frame.readUInt32BE(FRAME_PAGES_AT);

export const isCommit = (frame: Buffer): boolean => pagesAfter(frame) > 0;

/** Whether the checksums of the WAL are valid up to its end. */
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

  /** Adds the next frame. Returns whether the frame header holds the resulting checksum. */
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
