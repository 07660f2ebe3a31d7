// Detects a history that was lost before this process started: an empty history must not silently replace it.
//
//   LOST-HISTORY-1  A WAL beside an empty or missing database file holds the last commits. SQLite deletes that WAL at the first open, even a
//                   read-only one. So nothing is opened.
//   LOST-HISTORY-2  A project that has had a database keeps the mark `<file>.known` beside it. A file that is empty or missing beside a mark was
//                   emptied or removed, and is refused: an operator who wants to begin anew removes the mark too. An empty file without a mark is a
//                   first start that a full disk or a crash cut short.
//   LOST-HISTORY-3  The mark holds the number of the last event, noted at each commit before its answer. The note is written in place and not synced.
//                   A kill leaves the last note or the one before it; a power cut may leave an older one. The history itself is synced before.
//   LOST-HISTORY-4  A history that ends before its note, in the same file, has lost commits. If a process was writing the file, the WAL was lost: the
//                   history is refused. If the file was closed, an older copy was put over it: the history begins a new timeline.
//   LOST-HISTORY-5  An operator who removes the mark accepts the history as it is, as a new timeline. The next start makes a new mark. The mark and
//                   its first note are synced, so that a power cut does not look like a removed mark.
import { closeSync, existsSync, fsyncSync, openSync, statSync, writeSync } from 'node:fs';
import { basename } from 'node:path';
import { SvcError } from '../svc-error.ts';
import { writeFileAtomic } from './atomic-file.ts';
import { LOST_REMEDY } from './database-remedies.ts';
import { readOwnFile } from './own-file.ts';

const markOf = (file: string): string => `${file}.known`;

/** Throws `storage_unavailable` if opening the file would replace a lost history with an empty one. */
export function refuseLostHistory(file: string): void {
  const bytes = bytesOf(file);
  if (file === ':memory:' || (bytes ?? 0) > 0) return;
  const log = `${file}-wal`;
  const hasLog = (bytesOf(log) ?? 0) > 0;
  const isMarked = existsSync(markOf(file));
  if (!hasLog && !isMarked) return;
  const what = bytes === undefined ? 'is gone' : 'is empty';
  const why = hasLog ? `while ${log} holds its last commits` : 'and was not before';
  const left = [...(hasLog ? [log] : []), ...(isMarked ? [markOf(file)] : [])].map((path) => basename(path));
  throw new SvcError('storage_unavailable', `the database file ${file} ${what}, ${why}`, {
    hint: `${LOST_REMEDY}; to begin with an empty history remove ${left.join(' and ')}`,
  });
}

/** Content of a mark before the first note, which is synced (LOST-HISTORY-5). */
const NEW = 'new\n';

/** Makes the mark: from now on there is a history to lose. */
export function noteHistory(file: string): void {
  if (file === ':memory:' || existsSync(markOf(file))) return;
  try {
    writeFileAtomic(markOf(file), NEW);
  } catch {
    // A disk without room: the next start makes the mark
  }
}

export interface HistoryNote {
  readonly epoch: string;
  readonly seq: number;
  /** `closed`: all data was in the database file, without a WAL. Undefined in a note of an older svc. */
  readonly state?: 'open' | 'closed' | undefined;
  /** Identity of the file (`fileIdentity`). */
  readonly of?: string | undefined;
  /** Time of the note, in ms. */
  readonly at?: number | undefined;
}

/** Every note has this length, so that it overwrites the former one. */
const NOTE_BYTES = 128;

/**
 * Never throws: a disk without room may take the next note. `isFirst`: the note is synced. A later note makes no mark where there is none: an operator
 * has removed it, or the whole folder, and another host may begin there.
 */
export function noteHistoryEnd(file: string, note: HistoryNote, isFirst = false): void {
  const { epoch, seq, state = '', of = '', at = 0 } = note;
  const text = `${epoch}.${seq} ${state} ${of} ${new Date(at).toISOString()}`.padEnd(NOTE_BYTES - 1);
  try {
    const isThere = statSync(markOf(file), { throwIfNoEntry: false })?.isFile() === true;
    if (!isThere && !isFirst) return;
    const mark = openSync(markOf(file), isThere ? 'r+' : 'wx', 0o600);
    try {
      writeSync(mark, `${text}\n`, 0);
      if (isFirst) fsyncSync(mark);
    } finally {
      closeSync(mark);
    }
  } catch {
    // A disk without room may take the next note
  }
}

/** The last note; undefined without one. */
export function notedHistory(file: string): HistoryNote | undefined {
  return parseNote(markedText(file));
}

/** Whether nothing was noted since the mark was made (LOST-HISTORY-5). */
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

/** Identity of an existing file: its inode, and its birth time if the file system stores one. */
export function fileIdentity(file: string): string {
  const { ino, birthtimeNs: born, ctimeNs: changed } = statSync(file, { bigint: true });
  return `${ino}-${born === changed ? 0 : born}`;
}

/** Without a birth time the inode alone decides. */
function isSameFile(one: string, other: string): boolean {
  const [inode, born] = one.split('-');
  const [otherInode, otherBorn] = other.split('-');
  return inode === otherInode && (born === '0' || otherBorn === '0' || born === otherBorn);
}

export interface HistoryEnd {
  readonly epoch: string | undefined;
  readonly seq: number;
  /** Time of the last event, in ms. */
  readonly at: number | undefined;
}

/** LOST-HISTORY-4: compares the history in the file with the note that was read before. */
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
