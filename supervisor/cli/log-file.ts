// Lines of a log file that somebody else writes and rotates: first all that there is, then what is new since the last look.
//
//   Q1  Rotated files are read before the present one, oldest first; a file that is rotated between two looks is read to its end first.
//   Q2  Half a line waits until its end is written.
import { closeSync, fstatSync, openSync, readSync, statSync } from 'node:fs';

export interface LineSource {
  read(): Promise<readonly string[]>;
}

const CHUNK_BYTES = 1024 * 1024;
/** What a first look reads at most of each file. */
const FIRST_BYTES = 32 * CHUNK_BYTES;
const MAX_ROTATED = 100;

export function openLogFile(path: string): LineSource {
  let inode: number | undefined;
  let offset = 0;
  const take = (file: string, from: number): string[] => {
    const { text, end, ino } = readFrom(file, from);
    inode = ino;
    offset = end;
    return text.split('\n').filter((line) => line !== '');
  };
  const first = (): string[] => {
    const old = rotatedFiles(path)
      .reverse()
      .flatMap((file) => take(file, -FIRST_BYTES));
    return [...old, ...(exists(path) ? take(path, -FIRST_BYTES) : [])];
  };
  const next = (): string[] => {
    const now = statSync(path, { throwIfNoEntry: false });
    if (now === undefined) return [];
    if (now.ino === inode) return now.size > offset ? take(path, offset) : [];
    const rotated = rotatedFiles(path);
    const seen = rotated.findIndex((file) => statSync(file, { throwIfNoEntry: false })?.ino === inode);
    const missed =
      seen === -1
        ? []
        : [
            ...take(rotated[seen] ?? path, offset),
            ...rotated
              .slice(0, seen)
              .reverse()
              .flatMap((file) => take(file, 0)),
          ];
    return [...missed, ...take(path, 0)];
  };
  return { read: () => Promise.resolve(inode === undefined ? first() : next()) };
}

/** `path.1` (the newest), `path.2`, … as far as they are there. */
function rotatedFiles(path: string): string[] {
  const files: string[] = [];
  for (let n = 1; n <= MAX_ROTATED && exists(`${path}.${n}`); n += 1) files.push(`${path}.${n}`);
  return files;
}

const exists = (path: string): boolean => statSync(path, { throwIfNoEntry: false }) !== undefined;

/** A negative `from` counts from the end. */
function readFrom(file: string, from: number): { readonly text: string; readonly end: number; readonly ino: number } {
  const descriptor = openSync(file, 'r');
  try {
    const { size, ino } = fstatSync(descriptor);
    const chunks: Buffer[] = [];
    let position = from < 0 ? Math.max(0, size + from) : from;
    for (let left = size - position; left > 0; ) {
      const chunk = Buffer.alloc(Math.min(left, CHUNK_BYTES));
      const read = readSync(descriptor, chunk, 0, chunk.length, position);
      if (read === 0) break;
      chunks.push(chunk.subarray(0, read));
      position += read;
      left -= read;
    }
    // A character whose bytes are not all there yet belongs to a half line, which is read again.
    const bytes = Buffer.concat(chunks);
    const whole = bytes.lastIndexOf(10) + 1;
    return { text: bytes.toString('utf8', 0, whole), end: position - (bytes.length - whole), ino };
  } finally {
    closeSync(descriptor);
  }
}
