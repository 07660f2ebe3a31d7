// Takes erased words out of the segments. The unit that erases them notes their numbers; the note goes once no segment has them any more.
//
//   CLEAR-1  The event `text.erased` is in a file before a segment loses words, and the note is of its unit. So a kill leaves words whose event
//            and note are there, never a missing text without its event. The next start, or the next erasure, takes them out.
//   CLEAR-2  A segment is written anew beside the old one and takes its place: links of checkpoints keep the old file.
//   CLEAR-3  Places follow in a unit of their own, from the lines of the segment. They are written again as long as the note is there.
import { randomUUID } from 'node:crypto';
import { type Core, commitOrThrow } from '../../core/core.ts';
import { writeMeta } from '../../database/project-state.ts';
import { sql, statement } from '../../database/statement.ts';
import type { Reader, Statement } from '../../database/unit.ts';
import { movePlaces } from './places.ts';
import type { SegmentWriter } from './segment-writer.ts';

const NOTE = 'workroom_erasing/';
const SLICE = 2_000;

/** Joins the unit that erases the words. */
export const noteErased = (seqs: readonly number[]): Statement =>
  writeMeta(`${NOTE}${randomUUID()}`, JSON.stringify(seqs));

/** Erasures whose words may still be in the files. */
export const readNotes = (reader: Reader) =>
  reader.all(sql.selectFrom('meta').selectAll().where('key', 'like', `${NOTE}%`));

/** Called while nothing is appended, and every event of the files has its place. */
export async function clearWords(core: Core, segments: SegmentWriter): Promise<void> {
  const { reader, writer, fence } = core;
  const commit = (statements: readonly Statement[]) =>
    commitOrThrow(writer, { name: 'workroom.cleared', statements, ...(fence === undefined ? {} : { fence }) });
  const notes = await readNotes(reader);
  const seqs = new Set(notes.flatMap(({ value }) => JSON.parse(value) as number[]));
  for (const segment of await segmentsWith(reader, [...seqs])) {
    const placed = await segments.clearTexts(segment, seqs);
    if (FAILPOINTS) await core.point('workroom.erase.renamed');
    await commit(slicesOf(placed).map(movePlaces));
    if (FAILPOINTS) await core.point('workroom.erase.placed');
  }
  const keys = notes.map(({ key }) => key);
  if (keys.length > 0) await commit([statement(sql.deleteFrom('meta').where('key', 'in', keys))]);
}

async function segmentsWith(reader: Reader, seqs: readonly number[]): Promise<readonly number[]> {
  const found = new Set<number>();
  for (const slice of slicesOf(seqs)) {
    const rows = await reader.all(
      sql.selectFrom('workroom_places').select('segment').distinct().where('seq', 'in', slice),
    );
    for (const { segment } of rows) found.add(segment);
  }
  return [...found].sort((a, b) => a - b);
}

const slicesOf = <T>(all: readonly T[]): readonly (readonly T[])[] =>
  Array.from({ length: Math.ceil(all.length / SLICE) }, (_, index) => all.slice(index * SLICE, (index + 1) * SLICE));
