// Finds the events `text.erased` in the segments, and writes the content of a segment without the words that they name.
import { readFileSync } from 'node:fs';
import { turns } from '../../core/turns.ts';
import type { WorkroomEventsTable } from '../../database/tables.ts';
import { readHeader, readRecord, recordLine } from './record.ts';
import { listSegments, type Placed, type Segment } from './segments.ts';

const LF = 10;
const SLICE = 500;
/** Quotes inside of a column are escaped, so these bytes stand nowhere else. */
const MARK = '"kind":"text.erased"';

/** The events of a segment's content that erased words. Lines that do not hold, or name no numbers, are left out: a proof tells them. */
export function erasuresIn(content: Buffer): readonly WorkroomEventsTable[] {
  const found: WorkroomEventsTable[] = [];
  for (let at = content.indexOf(MARK); at >= 0; at = content.indexOf(MARK, at + 1)) {
    const record = readRecord(content, content.lastIndexOf(LF, at) + 1);
    if (record.kind === 'whole' && seqsIn(record.event) !== undefined) found.push(record.event);
  }
  return found;
}

function seqsIn({ data }: Pick<WorkroomEventsTable, 'data'>): readonly number[] | undefined {
  try {
    const { seqs } = JSON.parse(data) as { readonly seqs?: unknown };
    return Array.isArray(seqs) ? (seqs as number[]) : undefined;
  } catch {
    return undefined;
  }
}

/** Numbers of the events whose words are erased, with their streams. */
export class ErasedWords {
  readonly #streams = new Map<number, string>();

  add(event: WorkroomEventsTable): void {
    const { seq: erasedAt, stream } = event;
    for (const seq of seqsIn(event) ?? []) if (seq < erasedAt) this.#streams.set(seq, stream);
  }

  get seqs(): readonly number[] {
    return [...this.#streams.keys()];
  }

  /** Words that are erased, and still there. */
  has({ seq, stream, texts }: WorkroomEventsTable): boolean {
    return texts !== null && this.#streams.get(seq) === stream;
  }
}

/** Numbers of events whose words are erased, and still in the files: a kill, or a database that knows nothing of it. */
export async function findWordsLeft(folder: string): Promise<readonly number[]> {
  const segments = listSegments(folder);
  const erased = new ErasedWords();
  for (const { path } of segments) {
    for (const event of erasuresIn(readFileSync(path))) erased.add(event);
    await turns(1);
  }
  const { seqs } = erased;
  const left: number[] = [];
  for (const [index, segment] of segments.entries()) {
    const next = segments[index + 1]?.first ?? Number.POSITIVE_INFINITY;
    if (!seqs.some((seq) => seq >= segment.first && seq < next)) continue;
    for await (const { event } of recordsOf(readFileSync(segment.path))) if (erased.has(event)) left.push(event.seq);
  }
  return left;
}

export interface Cleared {
  readonly content: Buffer;
  /** Its whole lines. */
  readonly placed: readonly Placed[];
  readonly hasChanged: boolean;
}

/** The segment without the texts of these events. A line that does not hold stays as it is. */
export async function withoutTexts({ first, path }: Segment, seqs: ReadonlySet<number>): Promise<Cleared> {
  const content = readFileSync(path);
  const placed: Placed[] = [];
  const pieces: Buffer[] = [];
  let copied = 0;
  let shrunk = 0;
  for await (const { event, start, end } of recordsOf(content)) {
    const isErased = event.texts !== null && seqs.has(event.seq);
    const line = isErased ? recordLine({ ...event, texts: null }) : content.subarray(start, end);
    placed.push({ event, segment: first, offset: start - shrunk, bytes: line.length });
    if (!isErased) continue;
    pieces.push(content.subarray(copied, start), line);
    copied = end;
    shrunk += end - start - line.length;
  }
  pieces.push(content.subarray(copied));
  return { content: Buffer.concat(pieces), placed, hasChanged: pieces.length > 1 };
}

interface FoundRecord {
  readonly event: WorkroomEventsTable;
  readonly start: number;
  readonly end: number;
}

/** Lets others run in between. */
async function* recordsOf(content: Buffer): AsyncGenerator<FoundRecord> {
  let records = 0;
  for (let at = readHeader(content)?.bytes ?? content.indexOf(LF) + 1; at < content.length; ) {
    const record = readRecord(content, at);
    if (record.kind === 'whole') yield { event: record.event, start: at, end: record.end };
    at = record.end;
    records += 1;
    if (records % SLICE === 0) await turns(1);
  }
}
