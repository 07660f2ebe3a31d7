// Reads a file that a person wrote: regular, at most 1 MiB, UTF-8. Never waits on a FIFO and never opens a device.
import { closeSync, constants, fstatSync, openSync, readlinkSync, readSync, statSync } from 'node:fs';
import { messageOf } from '../../svc-error.ts';
import type { Place } from '../fault.ts';

export const LARGEST_FILE_BYTES = 1_048_576;
const FIRST_BYTES = 4_096;
const MARK = '\uFFFD';
const MARK_BYTES = Buffer.from(MARK);

const BYTE_ORDER_MARK = Buffer.from('\uFEFF');

export type SmallFile =
  | { readonly kind: 'text'; readonly text: string; readonly mode: number }
  | { readonly kind: 'absent' }
  | { readonly kind: 'refused'; readonly reason: string; readonly place?: Place };

const WITH_MARK: SmallFile = {
  kind: 'refused',
  reason: 'starts with a byte order mark; save it as UTF-8 without one',
  place: { line: 1, column: 1 },
};

/** Returns the text without its byte order mark, or why not. `takesMark` false rejects a mark. Symbolic links must lead to regular files. */
export function readSmallFile(path: string, { takesMark = true }: { readonly takesMark?: boolean } = {}): SmallFile {
  let file: number | undefined;
  try {
    if (!statSync(path).isFile()) return { kind: 'refused', reason: 'is not a regular file' };
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
    const stats = fstatSync(file);
    if (!stats.isFile()) return { kind: 'refused', reason: 'is not a regular file' };
    const bytes = readUpTo(file, LARGEST_FILE_BYTES + 1, stats.size + 1);
    if (bytes.length > LARGEST_FILE_BYTES)
      return { kind: 'refused', reason: `is larger than ${LARGEST_FILE_BYTES} bytes` };
    if (!takesMark && bytes.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK)) return WITH_MARK;
    return decode(bytes, stats.mode);
  } catch (error) {
    if (isAbsent(error)) return absent(path);
    return { kind: 'refused', reason: `cannot be read: ${messageOf(error)}` };
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/** A dangling symbolic link is reported, because its author expected a file there. */
function absent(path: string): SmallFile {
  const target = linkTarget(path);
  if (target === undefined) return { kind: 'absent' };
  return { kind: 'refused', reason: `is a symbolic link whose target is not there: ${target}` };
}

/** Target of a symbolic link, existing or not. Undefined for anything else. */
export function linkTarget(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined; // not a link, or missing
  }
}

/** Reads until the end, because a file may grow meanwhile and some have no size. */
function readUpTo(file: number, limit: number, expected: number): Buffer {
  let buffer = Buffer.alloc(Math.min(limit, Math.max(expected, FIRST_BYTES)));
  let length = 0;
  for (;;) {
    const count = readSync(file, buffer, length, buffer.length - length, null);
    length += count;
    if (count === 0 || length === limit) return buffer.subarray(0, length);
    if (length === buffer.length) buffer = Buffer.concat([buffer], Math.min(limit, 2 * length));
  }
}

function decode(bytes: Buffer, mode: number): SmallFile {
  if ((bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff)) {
    return { kind: 'refused', reason: 'is UTF-16; save it as UTF-8' };
  }
  try {
    return { kind: 'text', text: new TextDecoder('utf-8', { fatal: true }).decode(bytes), mode };
  } catch {
    return { kind: 'refused', reason: 'is not valid UTF-8 here', place: firstWrongByte(bytes) };
  }
}

/** Position of the first invalid byte: the decoder inserts a replacement mark that is not in the bytes themselves. */
function firstWrongByte(bytes: Buffer): Place {
  const text = bytes.toString('utf8');
  let [offset, from] = [0, 0];
  for (let at = text.indexOf(MARK); at >= 0; at = text.indexOf(MARK, at + 1)) {
    offset += Buffer.byteLength(text.slice(from, at));
    from = at;
    if (!bytes.subarray(offset, offset + MARK_BYTES.length).equals(MARK_BYTES)) break;
  }
  const lines = text.slice(0, from).split('\n');
  return { line: lines.length, column: (lines.at(-1)?.length ?? 0) + 1 };
}

const isAbsent = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR');
