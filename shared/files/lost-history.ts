// A database file that was there before this process and is empty now: an empty history must not be made in its place in silence.
//
//   D1  A log beside a file that is empty or gone holds the last commits. SQLite deletes it with the first open, be that only to read: so
//       nothing is opened.
//   D2  A project that has had a database keeps a mark beside it. An empty file beside a mark was emptied; a file that is gone may have been
//       removed to begin anew, and an empty one without a mark is a first start that a full disk or a crash cut short.
//   D3  The mark holds how far the history had come, noted with each commit before its answer. It is written in place and not synced: a kill leaves the
//       last note or the one before it, a power cut an older one. The history itself is synced before.
//   D4  A history that ends before its note, in the same file, has lost what its log held, if a process was writing it: it is not served. If it was
//       closed by then, an older copy was put over the file: it is served as a new timeline (project-state.ts).
//   D5  Whoever removes the mark takes the history as it is, as a new timeline: a start beside a history makes a new mark. The mark and its first note
//       are synced, so that a power cut does not look like that.
import { closeSync, existsSync, fsyncSync, openSync, statSync, writeSync } from 'node:fs';
import { basename } from 'node:path';
import { SvcError } from '../svc-error.ts';
import { writeFileAtomic } from './atomic-file.ts';
import { LOST_REMEDY } from './database-remedies.ts';
import { readOwnFile } from './own-file.ts';

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

/** What a mark holds until the first note, which is synced (D5). */
const NEW = 'new\n';

/** There is something to lose from now on. */
export function noteHistory(file: string): void {
  if (file === ':memory:' || existsSync(markOf(file))) return;
  try {
    writeFileAtomic(markOf(file), NEW);
  } catch {
    // A disk without room: the next start notes it
  }
}

export interface HistoryNote {
  readonly epoch: string;
  readonly seq: number;
  /** `closed`: all of it was in the one file. Undefined in a note of an older svc. */
  readonly state?: 'open' | 'closed' | undefined;
  /** Which file it is (`fileIdentity`). */
  readonly of?: string | undefined;
  /** When it was noted, in ms. */
  readonly at?: number | undefined;
}

/** Every note has this length, so that one is written over another. */
const NOTE_BYTES = 128;

/** Never throws: a disk without room takes the next one. `isFirst`: it is synced. */
export function noteHistoryEnd(file: string, note: HistoryNote, isFirst = false): void {
  const { epoch, seq, state = '', of = '', at = 0 } = note;
  const text = `${epoch}.${seq} ${state} ${of} ${new Date(at).toISOString()}`.padEnd(NOTE_BYTES - 1);
  try {
    const isThere = statSync(markOf(file), { throwIfNoEntry: false })?.isFile() === true;
    const mark = openSync(markOf(file), isThere ? 'r+' : 'wx', 0o600);
    try {
      writeSync(mark, `${text}\n`, 0);
      if (isFirst) fsyncSync(mark);
    } finally {
      closeSync(mark);
    }
  } catch {
    // See above
  }
}

/** What was noted last; undefined where nothing was. */
export function notedHistory(file: string): HistoryNote | undefined {
  return parseNote(markedText(file));
}

/** Nothing was noted since the mark was made (D5). */
export const isNewlyMarked = (file: string): boolean => markedText(file) === NEW;

function markedText(file: string): string {
  try {
    return readOwnFile(markOf(file));
  } catch {
    return '';
  }
}

export function parseNote(text: string): HistoryNote | undefined {
  const [position = '', state, of, time = ''] = text.trim().split(' ');
  const [epoch = '', number = ''] = position.split('.');
  const seq = Number(number);
  if (epoch === '' || number === '' || !Number.isSafeInteger(seq)) return undefined;
  if (state !== 'open' && state !== 'closed') return { epoch, seq };
  return { epoch, seq, state, of, at: Date.parse(time) };
}

/** Of a file that is there: another one at its path has another, as far as its file system tells. */
export function fileIdentity(file: string): string {
  const { ino, birthtimeNs: born, ctimeNs: changed } = statSync(file, { bigint: true });
  return `${ino}-${born === changed ? 0 : born}`;
}

/** Where the time of birth is not known the inode decides. */
function isSameFile(one: string, other: string): boolean {
  const [inode, born] = one.split('-');
  const [otherInode, otherBorn] = other.split('-');
  return inode === otherInode && (born === '0' || otherBorn === '0' || born === otherBorn);
}

export interface HistoryEnd {
  readonly epoch: string | undefined;
  readonly seq: number;
  /** Of its last event, in ms. */
  readonly at: number | undefined;
}

/** D4. What the file holds, compared with what was noted of it before it was read. */
export function shortenedHistory(
  file: string,
  { noted, end }: { readonly noted: HistoryNote | undefined; readonly end: HistoryEnd },
): SvcError | undefined {
  if (noted?.state !== 'open' || noted.of === undefined || !isSameFile(noted.of, fileIdentity(file))) return undefined;
  if (end.epoch !== undefined && (end.epoch !== noted.epoch || end.seq >= noted.seq)) return undefined;
  const [from, to] = [end.at, noted.at].map((at) => (at === undefined ? 'unknown' : new Date(at).toISOString()));
  return new SvcError(
    'storage_unavailable',
    `the history ends at event ${end.seq} (${from}), and had come to ${noted.seq} (${to}): what was stored in between is gone, the log of the database was truncated or removed`,
    {
      hint: `${LOST_REMEDY}; to go on with what is left remove ${basename(markOf(file))}: events then begin a new timeline`,
    },
  );
}

const bytesOf = (file: string): number | undefined => statSync(file, { throwIfNoEntry: false })?.size;
