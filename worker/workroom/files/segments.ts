// The segments of the journal: which there are, and how far the last one holds.
import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { syncFolder } from '../../../shared/files/atomic-file.ts';
import { SvcError } from '../../../shared/svc-error.ts';
import type { WorkroomEventsTable } from '../../database/tables.ts';
import { chainHash } from '../journal/chain.ts';
import { firstOf, type ReadHeader, readHeader, readRecord, spotAt } from './record.ts';

export interface Segment {
  /** Number of its first event, by its name. */
  readonly first: number;
  readonly path: string;
}

/** In order of their first numbers. */
export function listSegments(folder: string): readonly Segment[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .flatMap((name) => {
      const first = firstOf(name);
      return first === undefined ? [] : [{ first, path: join(folder, name) }];
    })
    .sort((a, b) => a.first - b.first);
}

export interface Placed {
  readonly event: Pick<WorkroomEventsTable, 'seq' | 'id' | 'stream' | 'version'>;
  readonly segment: number;
  readonly offset: number;
  /** Length of the line with its LF. */
  readonly bytes: number;
}
export interface PlacedWhole extends Placed {
  readonly event: WorkroomEventsTable;
}

/** A segment up to the first line that does not hold. */
export interface SegmentLook {
  readonly header: ReadHeader['header'] | undefined;
  readonly placed: readonly PlacedWhole[];
  /** Bytes that hold. */
  readonly end: number;
  readonly content: Buffer;
  /** Behind the first line that does not hold stands one that does: this is no torn end. */
  readonly goesOn: boolean;
}

/** Reads one segment, and follows the chain through it. */
export function lookAt({ first, path }: Segment): SegmentLook {
  const content = readFileSync(path);
  const read = readHeader(content);
  const none = { header: undefined, placed: [], end: 0, content };
  if (read === undefined) return { ...none, goesOn: holdsFrom(content, 0) };
  const placed: PlacedWhole[] = [];
  let end = read.bytes;
  let before = read.header.prev;
  while (end < content.length) {
    const record = readRecord(content, end);
    if (record.kind === 'broken') break;
    const { event } = record;
    if (event.seq !== first + placed.length || chainHash(before, event.seq, event.digest) !== event.hash) break;
    placed.push({ event, segment: first, offset: end, bytes: record.end - end });
    before = event.hash;
    end = record.end;
  }
  return { header: read.header, placed, end, content, goesOn: holdsFrom(content, end) };
}

/** Whether a whole line stands behind the first one from `offset`, or at it. */
function holdsFrom(content: Buffer, offset: number): boolean {
  for (let at = offset; at < content.length; ) {
    const record = readRecord(content, at);
    if (record.kind === 'whole') return true;
    at = record.end;
  }
  return false;
}

export interface PlacingAll {
  /** Events behind this number. */
  readonly after: number;
  /** The files were proven just now, and nobody else writes to them: only the places of their lines are read. */
  readonly areProven?: boolean;
}

/** Events with their places, a segment at a time. Throws at a line that does not hold. */
export function* placedAfter(folder: string, { after, areProven = false }: PlacingAll): Generator<readonly Placed[]> {
  const segments = listSegments(folder);
  for (const [index, segment] of segments.entries()) {
    const next = segments[index + 1]?.first ?? Number.POSITIVE_INFINITY;
    if (next <= after + 1) continue;
    const { placed, end, content } = areProven ? spotsIn(segment) : lookAt(segment);
    if (end < content.length)
      throw new SvcError('journal_damaged', `${segment.path} does not hold at byte ${end}`, {
        hint: 'svc workroom verify tells all that is damaged',
      });
    yield placed.filter(({ event }) => event.seq > after);
  }
}

function spotsIn({ first, path }: Segment): Pick<SegmentLook, 'end' | 'content'> & { readonly placed: Placed[] } {
  const content = readFileSync(path);
  const placed: Placed[] = [];
  let end = readHeader(content)?.bytes ?? 0;
  for (let event = spotAt(content, end); event !== undefined; event = spotAt(content, end)) {
    placed.push({ event, segment: first, offset: end, bytes: event.bytes });
    end += event.bytes;
  }
  return { placed, end, content };
}

/** Puts a new file with this content at the path: nothing of the old one, whose last sync may have failed, is relied on. */
export function writeAnew(path: string, content: Buffer): void {
  renameSync(writeBeside(path, content), path);
  syncFolder(dirname(path));
}

/** Returns the path of the new file, which is synced. */
export function writeBeside(path: string, content: Buffer): string {
  const part = `${path}.part`;
  const file = openSync(part, 'w', 0o600);
  try {
    writeFileSync(file, content);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  return part;
}

const LEFTOVER = /^\d{20}\.wjl\.(?:part|torn)$/;

/** Files beside the segments, of an earlier start: their lines may hold words that are erased since. */
export function removeLeftovers(folder: string): void {
  const names = existsSync(folder) ? readdirSync(folder).filter((name) => LEFTOVER.test(name)) : [];
  for (const name of names) rmSync(join(folder, name));
  if (names.length > 0) syncFolder(folder);
}
