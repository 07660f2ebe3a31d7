// Reads a log file backwards in pieces, so that the last lines of a large file cost little. Uses `node:fs` only.
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';

const PIECE_BYTES = 256 * 1024;
const LINE_FEED = 10;

export interface Span {
  /** Start offset in bytes. Default 0. */
  readonly from?: number;
  /** End offset in bytes. Default: the end of the file. */
  readonly to?: number;
}

/** The lines between two offsets of an open file, last line first. Empty lines are skipped. */
export function* linesBackwards(descriptor: number, { from = 0, to }: Span = {}): Generator<string> {
  let rest: Buffer = Buffer.alloc(0);
  for (let end = to ?? fstatSync(descriptor).size; end > from; ) {
    const begin = Math.max(from, end - PIECE_BYTES);
    const piece = Buffer.concat([readPiece(descriptor, begin, end), rest]);
    end = begin;
    let stop = piece.length;
    for (
      let feed = piece.lastIndexOf(LINE_FEED);
      feed !== -1;
      feed = feed === 0 ? -1 : piece.lastIndexOf(LINE_FEED, feed - 1)
    ) {
      if (feed + 1 < stop) yield piece.toString('utf8', feed + 1, stop);
      stop = feed;
    }
    rest = piece.subarray(0, stop);
  }
  if (rest.length > 0) yield rest.toString('utf8');
}

/** Like `linesBackwards`, by file name. Yields nothing if the file cannot be read. */
export function* fileBackwards(path: string, span: Span = {}): Generator<string> {
  let descriptor: number;
  try {
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK); // does not wait for the writer of a FIFO
  } catch {
    return; // removed in between
  }
  try {
    if (fstatSync(descriptor).isFile()) yield* linesBackwards(descriptor, span);
  } finally {
    closeSync(descriptor);
  }
}

/** Returns fewer bytes if the file has become shorter. */
export function readPiece(descriptor: number, begin: number, end: number): Buffer {
  const bytes = Buffer.allocUnsafe(Math.max(0, end - begin));
  let read = 0;
  while (read < bytes.length) {
    const more = readSync(descriptor, bytes, read, bytes.length - read, begin + read);
    if (more === 0) break;
    read += more;
  }
  return bytes.subarray(0, read);
}
