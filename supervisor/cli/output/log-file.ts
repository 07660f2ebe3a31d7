// Reads lines of a log file that another process writes and rotates: the last lines, then new ones at each call.
//
//   LOG-FILE-1  Rotated files are included, oldest first. A file rotated between two calls is read to its end, however often that happens.
//   LOG-FILE-2  An incomplete line is held back until its end is written.
//   LOG-FILE-3  Memory does not grow with the log. The last lines are searched from the end, others are returned in batches.
//   LOG-FILE-4  Lines that were rotated away or truncated before they were read are reported by `hasGap`.
//   LOG-FILE-5  Files may be renamed by one number, oldest first, during a read. They are opened from the newest to the oldest.
//               One missing name is skipped, since a rotation leaves one free for a moment. A file met twice is read once.
//   LOG-FILE-6  A worker writes to the former file until it has reopened the log. So the current file is read up to the length that it had before the
//               former one was read to its end: no line comes before one that was written earlier.
import { closeSync, fstatSync, openSync, statSync } from 'node:fs';
import { linesBackwards, readPiece } from '../../../shared/log/log-tail.ts';

export interface LineSource {
  /** The last accepted lines, oldest first. Without a count all of them, in batches. */
  last(
    count: number | undefined,
    accepts: (line: string) => boolean,
  ): Iterable<readonly string[]> | Promise<Iterable<readonly string[]>>;
  /** Lines written since the last call. */
  next(): Iterable<readonly string[]> | Promise<Iterable<readonly string[]>>;
  /** Whether lines were missed since the last call. */
  hasGap(): boolean;
}

const BATCH_BYTES = 1024 * 1024;
const LINE_FEED = 10;

/** An open file, which can be read to its end even after it was renamed. */
interface OpenFile {
  readonly descriptor: number;
  readonly inode: number;
  offset: number;
}

export class LogFile implements LineSource {
  readonly #path: string;
  /** The current file and the one before it. A worker may write to the latter for a moment after a rotation. */
  #present: OpenFile | undefined;
  #former: OpenFile | undefined;
  #hasGap = false;

  constructor(path: string) {
    this.#path = path;
  }

  *last(count: number | undefined, accepts: (line: string) => boolean): Generator<readonly string[]> {
    this.#present = open(this.#path);
    const former = openRotated(this.#path, this.#present?.inode);
    try {
      if (count === undefined) yield* this.#all(former, accepts);
      else yield this.#lastOf(former, { count, accepts });
    } finally {
      former.forEach(close);
    }
  }

  *#all(former: readonly OpenFile[], accepts: (line: string) => boolean): Generator<readonly string[]> {
    for (const file of former.toReversed()) for (const lines of grown(file)) yield lines.filter(accepts);
    for (const lines of this.#grownPresent()) yield lines.filter(accepts);
  }

  #lastOf(
    former: readonly OpenFile[],
    { count, accepts }: { readonly count: number; readonly accepts: (line: string) => boolean },
  ): readonly string[] {
    const found: string[] = [];
    const look = (lines: Iterable<string>): void => {
      if (found.length >= count) return;
      for (const line of lines) {
        if (accepts(line)) found.push(line);
        if (found.length >= count) return;
      }
    };
    if (this.#present !== undefined) {
      this.#present.offset = wholeEnd(this.#present);
      look(linesBackwards(this.#present.descriptor, { to: this.#present.offset }));
    }
    for (const { descriptor } of former) look(linesBackwards(descriptor));
    return found.reverse();
  }

  *next(): Generator<readonly string[]> {
    const named = statSync(this.#path, { throwIfNoEntry: false });
    if (named === undefined) return yield* this.#grownBoth();
    if (this.#present === undefined) this.#present = open(this.#path);
    else if (named.ino !== this.#present.inode) yield* this.#change(this.#present.inode);
    yield* this.#grownBoth();
  }

  hasGap(): boolean {
    const had = this.#hasGap;
    this.#hasGap = false;
    return had;
  }

  /** Reads the former current file to its end, then newer rotated files, then the current one. */
  *#change(inode: number): Generator<readonly string[]> {
    yield* this.#grownBoth();
    const present = open(this.#path);
    const rotated = openRotated(this.#path, present?.inode);
    const seen = rotated.findIndex((file) => file.inode === inode);
    if (seen === -1) this.#hasGap = true;
    else rotated.splice(seen).forEach(close);
    for (const file of rotated.toReversed()) {
      this.#take(file);
      yield* this.#grownBoth();
    }
    this.#take(present);
  }

  #take(file: OpenFile | undefined): void {
    if (file === undefined) return;
    if (this.#former !== undefined) close(this.#former);
    this.#former = this.#present;
    this.#present = file;
  }

  /** LOG-FILE-6. */
  *#grownBoth(): Generator<readonly string[]> {
    const to = this.#present === undefined ? 0 : fstatSync(this.#present.descriptor).size;
    if (this.#former !== undefined) yield* grown(this.#former);
    yield* this.#grownPresent(to);
  }

  *#grownPresent(to?: number): Generator<readonly string[]> {
    if (this.#present === undefined) return;
    if (fstatSync(this.#present.descriptor).size < this.#present.offset) this.#hasGap = true;
    yield* grown(this.#present, to);
  }
}

/** Opens `path.1` (the newest), `path.2` and so on, except the file with that inode. Skips one missing name, since a rotation may be under way. */
function openRotated(path: string, present: number | undefined): OpenFile[] {
  const files: OpenFile[] = [];
  for (let n = 1, missing = 0; missing < 2; n += 1) {
    const file = open(`${path}.${n}`);
    missing = file === undefined ? missing + 1 : 0;
    if (file === undefined) continue;
    if (file.inode === present || files.some(({ inode }) => inode === file.inode)) close(file);
    else files.push(file);
  }
  return files;
}

const close = ({ descriptor }: OpenFile): void => closeSync(descriptor);

function open(path: string): OpenFile | undefined {
  try {
    const descriptor = openSync(path, 'r');
    return { descriptor, inode: fstatSync(descriptor).ino, offset: 0 };
  } catch {
    return undefined; // not there yet, or gone again
  }
}

/** Whole lines after the offset, which advances, up to `to`. A file that became shorter is read from its start. */
function* grown(file: OpenFile, to?: number): Generator<readonly string[]> {
  const { size: length } = fstatSync(file.descriptor);
  if (length < file.offset) file.offset = 0;
  const size = Math.min(length, to ?? length);
  let half: Buffer = Buffer.alloc(0);
  for (let at = file.offset; at < size; ) {
    const piece = readPiece(file.descriptor, at, Math.min(size, at + BATCH_BYTES));
    if (piece.length === 0) return;
    at += piece.length;
    const bytes = half.length === 0 ? piece : Buffer.concat([half, piece]);
    const whole = bytes.lastIndexOf(LINE_FEED) + 1;
    half = bytes.subarray(whole);
    if (whole === 0) continue;
    file.offset = at - half.length;
    yield bytes
      .toString('utf8', 0, whole)
      .split('\n')
      .filter((line) => line !== '');
  }
}

/** Offset after the last line feed. */
function wholeEnd({ descriptor }: OpenFile): number {
  for (let end = fstatSync(descriptor).size; end > 0; ) {
    const begin = Math.max(0, end - BATCH_BYTES);
    const feed = readPiece(descriptor, begin, end).lastIndexOf(LINE_FEED);
    if (feed !== -1) return begin + feed + 1;
    end = begin;
  }
  return 0;
}
