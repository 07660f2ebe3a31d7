// A database file that was there before this process and is empty now: an empty history must not be made in its place in silence.
//
//   D1  A log beside a file that is empty or gone holds the last commits. SQLite deletes it with the first open, be that only to read: so
//       nothing is opened.
//   D2  A project that has had a database keeps a mark beside it. An empty file beside a mark was emptied; a file that is gone may have been
//       removed to begin anew, and an empty one without a mark is a first start that a full disk or a crash cut short.
//   D3  The mark holds how far the history had come, as of now and then: one that ends before it is an older copy.
import { existsSync, statSync } from 'node:fs';
import { writeFileAtomic } from './atomic-file.ts';
import { LOST_REMEDY } from './database-remedies.ts';
import { readOwnFile } from './own-file.ts';
import { SvcError } from './svc-error.ts';

const markOf = (file: string): string => `${file}.known`;

/** Throws `storage_unavailable` where opening the file would put an empty history in the place of a lost one. */
export function refuseLostHistory(file: string): void {
  const bytes = bytesOf(file);
  if (file === ':memory:' || (bytes ?? 0) > 0) return;
  const what = bytes === undefined ? 'is gone' : 'is empty';
  if ((bytesOf(`${file}-wal`) ?? 0) > 0)
    throw new SvcError(
      'storage_unavailable',
      `the database file ${file} ${what}, while ${file}-wal holds its last commits`,
      {
        hint: `${LOST_REMEDY}; to begin with an empty history remove both`,
      },
    );
  if (bytes === 0 && existsSync(markOf(file)))
    throw new SvcError('storage_unavailable', `the database file ${file} is empty, and was not before`, {
      hint: `${LOST_REMEDY}; to begin with an empty history remove it`,
    });
}

/** There is something to lose from now on. */
export function noteHistory(file: string): void {
  if (file === ':memory:' || existsSync(markOf(file))) return;
  try {
    writeFileAtomic(markOf(file), '', { durable: false });
  } catch {
    // A disk without room: the next start notes it
  }
}

/** Writes down how far the history has come: `<epoch>.<seq>`. */
export function notePosition(file: string, position: string): void {
  try {
    writeFileAtomic(markOf(file), position, { durable: false });
  } catch {
    // A disk without room: it is noted again
  }
}

/** What was noted last; empty where nothing was. */
export function notedPosition(file: string): string {
  try {
    return readOwnFile(markOf(file));
  } catch {
    return '';
  }
}

const bytesOf = (file: string): number | undefined => statSync(file, { throwIfNoEntry: false })?.size;
