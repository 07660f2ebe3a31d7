// What a start finds in the files of the journal, against what the database knows of them.
//
//   OPEN-FILES-1  The database knows events up to its head. Those that are not in the spool were synced to a file. Files that end before them,
//                 are gone or have another chain are damaged: nothing is cut or made.
//   OPEN-FILES-2  A last line that is not whole was never synced, or its event is in the spool too. It is cut, and kept beside as `.torn`. Whole
//                 lines behind it are cut only where the spool has their events. The next start removes the `.torn` file.
//   OPEN-FILES-3  A last segment without a whole header has no event: it is made anew.
//   OPEN-FILES-4  Events of the last segment that are in the spool too may never have been synced, or their sync failed. The segment is written anew.
//   OPEN-FILES-5  Files that hold more than the database are right: the database is an older copy, or was made anew.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { syncFolder } from '../../../shared/files/atomic-file.ts';
import { SvcError } from '../../../shared/svc-error.ts';
import type { WorkroomEventsTable } from '../../database/tables.ts';
import { chainHash, hashBeforeFirst } from '../journal/chain.ts';
import type { Head } from '../read-catalog.ts';
import type { Tail } from './segment-writer.ts';
import { listSegments, lookAt, removeLeftovers, type Segment, type SegmentLook, writeAnew } from './segments.ts';

export interface Knowing {
  readonly folder: string;
  readonly project: string;
  readonly head: Head;
  /** In order, without a hole, up to the head. */
  readonly spool: readonly Pick<WorkroomEventsTable, 'seq' | 'digest' | 'hash'>[];
}

export interface OpenedFiles {
  readonly tail: Tail;
  /** OPEN-FILES-5. */
  readonly holdMore: boolean;
}

/** Throws `journal_damaged`; then nothing was changed. */
export function openFiles(known: Knowing): OpenedFiles {
  const { folder, head, spool } = known;
  const synced = (spool[0]?.seq ?? head.seq + 1) - 1;
  const segments = listSegments(folder);
  const bare = bareSegment(segments, synced);
  const last = bare === undefined ? segments.at(-1) : segments.at(-2);
  if (last === undefined) {
    if (synced > 0) throw damaged(`the files of the journal in ${folder} are gone: events 1 to ${synced} are missing`);
    const tail: Tail = { seq: 0, hash: hashBeforeFirst(known.project), segment: undefined };
    refuseForeign(known, tail);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    syncFolder(dirname(folder));
    removeLeftovers(folder);
    if (bare !== undefined) remove(bare, folder);
    return { tail, holdMore: false };
  }
  const look = lookAt(last);
  const tail = tailOf(last, look, known.project);
  if (tail.seq < synced)
    throw damaged(`${last.path} ends with event ${tail.seq}; the database knows that ${synced} were synced`);
  const isTorn = look.end < look.content.length;
  if (isTorn && look.goesOn && tail.seq >= head.seq)
    throw damaged(`${last.path} does not hold at byte ${look.end}, and goes on behind it`);
  refuseForeign(known, tail);
  refuseOtherHead(known, tail, segments);
  removeLeftovers(folder);
  if (isTorn) writeFileSync(`${last.path}.torn`, look.content.subarray(look.end), { mode: 0o600 });
  if (isTorn || tail.seq > synced) writeAnew(last.path, look.content.subarray(0, look.end));
  if (bare !== undefined) remove(bare, folder);
  return { tail, holdMore: tail.seq > head.seq };
}

/** The project of the first segment: of a database that was made anew beside its files. */
export function projectOf(folder: string): string | undefined {
  const [first] = listSegments(folder);
  return first === undefined ? undefined : lookAt(first).header?.project;
}

/** OPEN-FILES-3. */
function bareSegment(segments: readonly Segment[], synced: number): Segment | undefined {
  const last = segments.at(-1);
  if (last === undefined || last.first <= synced) return undefined;
  const { header, goesOn } = lookAt(last);
  return header === undefined && !goesOn ? last : undefined;
}

function tailOf({ first, path }: Segment, { header, placed, end }: SegmentLook, project: string): Tail {
  if (header === undefined || header.first !== first)
    throw damaged(`${path} does not begin as a segment of the journal`);
  if (header.project !== project)
    throw damaged(`${path} belongs to project ${header.project}, the database to ${project}`);
  const event = placed.at(-1)?.event;
  return { seq: event?.seq ?? first - 1, hash: event?.hash ?? header.prev, segment: { first, bytes: end } };
}

/** The first event behind the files continues their chain. */
function refuseForeign({ spool, folder }: Knowing, tail: Tail): void {
  const next = spool.find(({ seq }) => seq === tail.seq + 1);
  if (next !== undefined && chainHash(tail.hash, next.seq, next.digest) !== next.hash)
    throw damaged(`event ${next.seq} of the database does not continue the files in ${folder}`);
}

/** The files hold the head of the database, with its hash. */
function refuseOtherHead({ head, folder }: Knowing, tail: Tail, segments: readonly Segment[]): void {
  if (head.seq === 0 || tail.seq < head.seq) return;
  const segment = segments.findLast(({ first }) => first <= head.seq);
  const found = segment && lookAt(segment).placed.find(({ event }) => event.seq === head.seq);
  if (found?.event.hash !== head.hash)
    throw damaged(`event ${head.seq} in ${folder} is not the one that the database knows`);
}

function remove({ path }: Segment, folder: string): void {
  rmSync(path);
  syncFolder(folder);
}

const damaged = (message: string): SvcError =>
  new SvcError('journal_damaged', message, {
    hint: 'nothing was changed. Bring the files back from a copy, or see what is missing: svc workroom verify',
  });
