// The log of SQLite (WAL) as its file format has it: https://sqlite.org/walformat.html. Pure.

export const LOG_HEADER_BYTES = 32;
export const FRAME_HEADER_BYTES = 24;

/** Its last bit says that checksums read words as big-endian. */
const MAGIC = 0x37_7f_06_82;
const PAGE_BYTES_AT = 8;
const SALTS_AT = 16;
const SALT_BYTES = 8;
const SUM_AT = 24;
/** Of a header, how much its checksum covers; of a frame's header, the same. */
const SUMMED_BYTES = 24;
const FRAME_SUMMED_BYTES = 8;
const FRAME_PAGES_AT = 4;
const FRAME_SALTS_AT = 8;
const FRAME_SUM_AT = 16;
const WORD_BYTES = 4;
const HALF_RANGE = 0x80_00_00_00;

type Sum = readonly [number, number];

export function isLogHeader(header: Buffer, pageBytes: number): boolean {
  const magic = header.readUInt32BE();
  if (magic !== MAGIC && magic !== MAGIC + 1) return false;
  if (header.readUInt32BE(PAGE_BYTES_AT) !== pageBytes) return false;
  return isSum(headerSum(header), header, SUM_AT);
}

/** Whether SQLite began the log anew with `next`, after one with `former`. */
export function isFollowing(next: Buffer, former: Buffer): boolean {
  const steps = (next.readUInt32BE(SALTS_AT) - former.readUInt32BE(SALTS_AT)) >>> 0;
  return steps > 0 && steps < HALF_RANGE;
}

/** Whether the header of a frame ends a commit of the log with this header. */
export const isFrameOf = (frame: Buffer, header: Buffer): boolean =>
  frame.readUInt32BE(FRAME_PAGES_AT) > 0 &&
  frame.compare(header, SALTS_AT, SALTS_AT + SALT_BYTES, FRAME_SALTS_AT, FRAME_SALTS_AT + SALT_BYTES) === 0;

/** Whether a log is whole to its end, by its checksums. */
export function isChain(log: Buffer, pageBytes: number): boolean {
  const header = log.subarray(0, LOG_HEADER_BYTES);
  if (!isLogHeader(header, pageBytes)) return false;
  const isBigEndian = isBig(header);
  let sum = headerSum(header);
  for (let at = LOG_HEADER_BYTES; at < log.length; at += FRAME_HEADER_BYTES + pageBytes) {
    const page = at + FRAME_HEADER_BYTES;
    sum = summed(sum, log.subarray(at, at + FRAME_SUMMED_BYTES), isBigEndian);
    sum = summed(sum, log.subarray(page, page + pageBytes), isBigEndian);
    if (!isSum(sum, log, at + FRAME_SUM_AT)) return false;
  }
  return true;
}

const isBig = (header: Buffer): boolean => header.readUInt32BE() !== MAGIC;

const headerSum = (header: Buffer): Sum => summed([0, 0], header.subarray(0, SUMMED_BYTES), isBig(header));

const isSum = ([first, second]: Sum, bytes: Buffer, at: number): boolean =>
  bytes.readUInt32BE(at) === first && bytes.readUInt32BE(at + WORD_BYTES) === second;

function summed([from, and]: Sum, bytes: Buffer, isBigEndian: boolean): Sum {
  let first = from;
  let second = and;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  for (let at = 0; at < bytes.length; at += 2 * WORD_BYTES) {
    first = (first + view.getUint32(at, !isBigEndian) + second) >>> 0;
    second = (second + view.getUint32(at + WORD_BYTES, !isBigEndian) + first) >>> 0;
  }
  return [first, second];
}
