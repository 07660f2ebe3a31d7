// Hands the segments of the journal to a proof: each byte of each file is looked at, whatever the database says of them.
//
//   PROVE-FILES-1  A line that is not as it was written is `changed`, at the number that its place gives it.
//   PROVE-FILES-2  Lines that changed places are `reordered`, at the first number that stands elsewhere. The proof goes on in order of the numbers.
//   PROVE-FILES-3  A last line without its end is no event, and a last segment without a whole line is none: a power cut may leave its name alone. The
//                  head tells whether there was one.
//   PROVE-FILES-4  Words that a later `text.erased` names count as gone, although a kill has left them in a segment: the catalog has lost them.
import { readFileSync } from 'node:fs';
import type { WorkroomEventsTable } from '../../database/tables.ts';
import type { BrokenEvent, JournalCheck } from '../journal/verify.ts';
import { ErasedWords, erasuresIn } from './erasures.ts';
import { headerLine, readHeader, readRecord } from './record.ts';
import { listSegments, type Segment } from './segments.ts';

const LF = 10;

export interface ProvingFiles {
  readonly folder: string;
  readonly project: string;
  /** Hash before the first event. */
  readonly root: string;
  /** Events behind it are left out: they were appended after the proof began. */
  readonly upTo: number;
  /** Events that are not in the files yet, or were not when the proof began. */
  readonly spool: readonly WorkroomEventsTable[];
  /** The stream of an event that cannot be read, where the database knows it. */
  readonly streamOf?: ((seq: number) => string | undefined) | undefined;
}

type Entry = { readonly event: WorkroomEventsTable } | { readonly broken: BrokenEvent };
const streamIn = (entry: Entry): string | null => ('event' in entry ? entry.event.stream : null);
const seqOf = (entry: Entry): number => ('event' in entry ? entry.event.seq : entry.broken.seq);

/** Yields after each segment, so that a host can do other work. */
export function* proveFiles(check: JournalCheck, of: ProvingFiles): Generator<void> {
  const { folder, upTo } = of;
  const segments = listSegments(folder);
  const erased = new ErasedWords();
  for (const { path } of segments) {
    for (const event of erasuresIn(readFileSync(path))) if (event.seq <= upTo) erased.add(event);
    yield;
  }
  for (const event of of.spool) if (event.kind === 'text.erased' && event.seq <= upTo) erased.add(event);
  const feed = new Feed(check, of, erased);
  for (const [index, segment] of segments.entries()) {
    if (segment.first > upTo) break;
    const content = readFileSync(segment.path);
    const isLast = index === segments.length - 1;
    const start = checkHeader(check, { segment, content, last: feed.last, isLast, of });
    addLines(feed, check, { content, start, segment, isLast, of });
    yield;
  }
  for (const event of of.spool) if (event.seq > feed.last.seq) feed.add({ event });
  if (check.lacksWords()) explainLater(check, folder, upTo);
}

/** A host erases while the proof goes on: what says so lies behind its end. */
function explainLater(check: JournalCheck, folder: string, upTo: number): void {
  for (const { path } of listSegments(folder))
    for (const event of erasuresIn(readFileSync(path))) if (event.seq > upTo) check.explain(event);
}

/** Hands events to the proof in rising order. */
class Feed {
  /** The hash is undefined behind an event that cannot be read. */
  last: { readonly seq: number; readonly hash: string | undefined };
  readonly #check: JournalCheck;
  readonly #upTo: number;
  readonly #spool: ReadonlyMap<number, WorkroomEventsTable>;
  readonly #erased: ErasedWords;

  constructor(check: JournalCheck, { root, upTo, spool }: ProvingFiles, erased: ErasedWords) {
    this.#check = check;
    this.#erased = erased;
    this.#upTo = upTo;
    this.#spool = new Map(spool.map((event) => [event.seq, event]));
    this.last = { seq: 0, hash: root };
  }

  add(entry: Entry): void {
    const seq = seqOf(entry);
    if (seq > this.#upTo) return;
    if (seq <= this.last.seq) return this.#check.note('reordered', seq, streamIn(entry));
    if ('broken' in entry) {
      this.#check.addBroken(entry.broken);
      this.last = { seq, hash: undefined };
      return;
    }
    const { event } = entry;
    const other = this.#spool.get(seq);
    if (other !== undefined && other.hash !== event.hash) this.#check.note('changed', seq, event.stream);
    this.#check.add(this.#erased.has(event) ? { ...event, texts: null } : event);
    this.last = event;
  }
}

interface Heading {
  readonly segment: Segment;
  readonly content: Buffer;
  readonly last: { readonly seq: number; readonly hash: string | undefined };
  readonly isLast: boolean;
  readonly of: ProvingFiles;
}

/** Returns where the first line begins. */
function checkHeader(check: JournalCheck, { segment: { first }, content, last, isLast, of }: Heading): number {
  const read = readHeader(content);
  if (read === undefined) {
    const isTorn = isLast && !content.includes(LF);
    if (!isTorn) check.note('changed', first, null);
    return content.indexOf(LF) + 1;
  }
  const { header, bytes } = read;
  if (header.project !== of.project) check.note('foreign', first, null);
  else if (header.first !== first) check.note('reordered', first, null);
  else if (first === last.seq + 1 && last.hash !== undefined) {
    const expected = headerLine({ project: of.project, first, prev: last.hash });
    if (content.toString('utf8', 0, bytes) !== expected) check.note('changed', first, null);
  }
  return bytes;
}

interface Reading {
  readonly content: Buffer;
  readonly start: number;
  readonly segment: Segment;
  readonly isLast: boolean;
  readonly of: ProvingFiles;
}

/**
 * Lines go to the proof one by one as long as each has the number of its place, as all of a sound segment have. From the first one that has not, the
 * rest is held together: lines may have changed places.
 */
function addLines(feed: Feed, check: JournalCheck, { content, start, segment, isLast, of }: Reading): void {
  let seq = segment.first;
  let at = start;
  for (; at < content.length; seq += 1) {
    const record = readRecord(content, at);
    if (record.kind === 'broken' || record.event.seq !== seq) break;
    feed.add({ event: record.event });
    at = record.end;
  }
  const rest: Entry[] = [];
  const added = seq - 1;
  while (at < content.length) {
    const record = readRecord(content, at);
    const isTorn = record.end === content.length && content.at(-1) !== LF;
    if (record.kind === 'whole') rest.push({ event: record.event });
    else if (!(isTorn && isLast)) rest.push({ broken: { seq, stream: of.streamOf?.(seq), event: record.event } });
    seq = record.kind === 'whole' ? record.event.seq + 1 : seq + 1;
    at = record.end;
  }
  for (const entry of inOrder(check, rest, added)) feed.add(entry);
}

/** `added`: number of the last line before them. */
function inOrder(check: JournalCheck, entries: readonly Entry[], added: number): readonly Entry[] {
  const sorted = entries.toSorted((a, b) => seqOf(a) - seqOf(b));
  const moved = sorted.find((entry, index) => entry !== entries[index] || seqOf(entry) <= added);
  if (moved !== undefined) check.note('reordered', seqOf(moved), streamIn(moved));
  return sorted;
}
