// Erases words of people from the journal, and the catalog with them. The chain holds, since it hashes digests of the words alone.
//
//   ERASE-1  Of a stream everything is one unit: its texts are gone, its catalog row is folded anew, and its event `text.erased` names the numbers.
//   ERASE-2  A proof takes a missing text as right only where a later `text.erased` of the stream names its event.
//   ERASE-3  Words are overwritten before their row shrinks, so that no free byte of the row keeps them.
//   ERASE-4  Nothing is told as erased where the journal is kept elsewhere: a stream without its events is refused. In files the words go after
//            the unit (CLEAR-1), and the answer comes after that.
//   ERASE-5  A member's words may lie in many streams: a kill leaves some of them. The same command again erases the rest.
//   ERASE-6  What a killed conversion left in the other store is removed first. Nothing is erased where that cannot be.
import { SvcError } from '../../shared/svc-error.ts';
import type { Core } from '../core/core.ts';
import { turns } from '../core/turns.ts';
import { sql } from '../database/statement.ts';
import type { WorkroomEventsTable } from '../database/tables.ts';
import type { Reader, Statement } from '../database/unit.ts';
import { type Actor, type Fact, itemStream, TEAM, type View, withEntry } from './board/model.ts';
import { noteErased } from './files/clear-words.ts';
import { FileJournal } from './files/file-journal.ts';
import { GUARD } from './journal/append.ts';
import { type Entity, evolve } from './journal/catalog-rows.ts';
import type { JournalSource } from './journal/journal.ts';
import { type CommandIdentity, factOf } from './journal/journal-event.ts';
import { type LeftOverPlace, removeLeftOver } from './left-over.ts';
import { readView } from './read-catalog.ts';
import type { Workroom } from './workroom.ts';

const SLICE = 2_000;
/** Streams whose words are erased in one unit. */
const STREAMS = 50;
const MOST_TRIES = 20;

export type ErasedTarget = { readonly item: string } | { readonly member: string };

export interface Erased {
  readonly streams: number;
  /** Events that lost their words. */
  readonly events: number;
}

/** Reads the journal for an erasure, and clears texts in it. Each store of the journal has its own. */
export interface Erasable {
  /** All events of a stream in order. */
  events(stream: string): Promise<readonly WorkroomEventsTable[]>;
  /** Events with words of a member: what they wrote, and their accounts. */
  eventsOf(member: string): Promise<readonly Pick<WorkroomEventsTable, 'seq' | 'stream'>[]>;
  clear(seqs: readonly number[]): readonly Statement[];
  /** Throws `refused` where the other store has what the journal has not. */
  removeLeftOver(): Promise<unknown>;
  /** Ends what the statements have begun, of erasures too that were cut off. */
  finish(): Promise<void>;
}

/** Of the store that the journal is in. */
export const erasableOf = (journal: JournalSource, place: LeftOverPlace): Erasable => ({
  ...(journal instanceof FileJournal ? erasableFiles(journal) : erasableDatabase(place.core.reader)),
  removeLeftOver: () => removeLeftOver(place, journal),
});
type OwnErasable = Omit<Erasable, 'removeLeftOver'>;

export interface Erasing {
  readonly core: Pick<Core, 'reader' | 'clock'>;
  readonly workroom: Pick<Workroom, 'store'>;
  readonly journal: Erasable;
  readonly actor: Actor;
  readonly command: CommandIdentity;
}

/** Throws `not_found`, `command_refused` for a stream that takes no event, and `refused` (ERASE-4, ERASE-6). */
export async function erase(of: Erasing, target: ErasedTarget): Promise<Erased> {
  await of.journal.removeLeftOver();
  await of.journal.finish();
  const found = await ('item' in target ? wordsOfItem(of, target.item) : wordsOfMember(of, target.member));
  const streams = [...found];
  for (let from = 0; from < streams.length; from += STREAMS)
    await eraseSlice(of, streams.slice(from, from + STREAMS), from / STREAMS);
  await of.journal.finish();
  return { streams: streams.length, events: streams.reduce((sum, [, seqs]) => sum + seqs.length, 0) };
}

type Words = ReadonlyMap<string, readonly number[]>;

async function wordsOfItem({ core, journal }: Erasing, item: string): Promise<Words> {
  const stream = itemStream(item);
  const found = (await readView(core.reader, { kind: 'look', item })).items[item];
  if (found === undefined) throw new SvcError('not_found', `there is no item ${item}`);
  const seqs = (await wholeStream(journal, stream, found.version)).flatMap(({ seq, texts }) =>
    texts === null ? [] : [seq],
  );
  return new Map(seqs.length === 0 ? [] : [[stream, seqs]]);
}

async function wordsOfMember({ core, journal }: Erasing, member: string): Promise<Words> {
  const { team } = await readView(core.reader, { kind: 'look' });
  if (team.members[member] === undefined) throw new SvcError('not_found', `there is no member ${member}`);
  await wholeStream(journal, TEAM, team.version);
  const words = new Map<string, number[]>();
  for (const { seq, stream } of await journal.eventsOf(member)) words.set(stream, [...(words.get(stream) ?? []), seq]);
  return words;
}

/** The events of a stream, all that its catalog row was made of. */
async function wholeStream(
  journal: Erasable,
  stream: string,
  version: number,
): Promise<readonly WorkroomEventsTable[]> {
  const rows = await journal.events(stream);
  if (rows.length >= version) return rows;
  throw new SvcError('refused', `nothing was erased: the events of ${stream} are not all in the journal`, {
    hint: 'svc workroom verify tells what is missing',
  });
}

async function eraseSlice(of: Erasing, words: readonly (readonly [string, readonly number[]])[], slice: number) {
  const { core, workroom, journal, actor, command } = of;
  for (let tries = 0; tries < MOST_TRIES; tries += 1) {
    let view = await readView(core.reader, { kind: 'look' });
    const facts: Fact[] = [];
    for (const [stream, seqs] of words) {
      const rows = await journal.events(stream);
      const entity = folded(rows, new Set(seqs));
      const version = rows.at(-1)?.version ?? 0;
      view = withEntity(view, entity);
      const data = { seqs };
      facts.push({
        stream,
        version: version + 1,
        kind: 'text.erased',
        at: core.clock.now(),
        actor: actor.id,
        data,
        texts: {},
      });
    }
    await refuseQuarantined(
      core.reader,
      words.map(([stream]) => stream),
    );
    const before = words.flatMap(([stream, seqs]) => [...journal.clear(seqs), blankCatalog(stream)]);
    const id = slice === 0 ? command.id : `${command.id}~${slice}`;
    if (await workroom.store({ view, facts, command: { ...command, id }, before })) return;
  }
  throw new SvcError('overloaded', 'others kept changing these items: try again', { details: { retryAfterMs: 1_000 } });
}

/** The fold of a stream without these words. */
function folded(rows: readonly WorkroomEventsTable[], erased: ReadonlySet<number>): Entity {
  let entity: Entity | undefined;
  for (const row of rows) entity = evolve(entity, factOf(erased.has(row.seq) ? { ...row, texts: null } : row));
  if (entity === undefined) throw new Error('a stream without an event');
  return entity;
}

function withEntity(view: View, entity: Entity): View {
  if (entity.kind === 'team') return { ...view, team: entity.team };
  if (entity.kind === 'board') return { ...view, boards: { ...view.boards, [entity.board.id]: entity.board } };
  return { ...view, items: withEntry(view.items, entity.item.id, entity.item) };
}

async function refuseQuarantined(reader: Reader, streams: readonly string[]): Promise<void> {
  const rows = await reader.all(
    sql.selectFrom('workroom_catalog').select(['stream', 'quarantined']).where('stream', 'in', streams),
  );
  const [damaged] = rows.filter(({ quarantined }) => quarantined === 1);
  if (damaged === undefined) return;
  throw new SvcError('command_refused', `${damaged.stream} has a damaged event and takes no command`, {
    details: { reason: 'stream_quarantined' },
    hint: `svc workroom verify tells the fault; svc workroom release ${damaged.stream} takes it into use again`,
  });
}

/** A text of as many bytes, so that SQLite writes over the old one in place. */
const blankOf = (column: string): string =>
  `substr(hex(zeroblob(length(CAST(${column} AS BLOB)))), 1, length(CAST(${column} AS BLOB)))`;
const BLANK_CATALOG = `UPDATE workroom_catalog SET data = ${blankOf('data')} WHERE stream = ?`;
const BLANK_TEXTS = `UPDATE workroom_events SET texts = ${blankOf('texts')} WHERE seq IN (SELECT value FROM json_each(?))`;
const CLEAR_TEXTS = 'UPDATE workroom_events SET texts = NULL WHERE seq IN (SELECT value FROM json_each(?))';

const blankCatalog = (stream: string): Statement => ({
  sql: BLANK_CATALOG,
  parameters: [stream],
  expect: 1,
  guard: GUARD,
});

/** The journal in files. */
function erasableFiles(journal: FileJournal): OwnErasable {
  return {
    async events(stream) {
      const all: WorkroomEventsTable[] = [];
      for await (const rows of slicesOf(journal, stream)) all.push(...rows);
      return all;
    },
    async eventsOf(member) {
      const found: Pick<WorkroomEventsTable, 'seq' | 'stream'>[] = [];
      for await (const rows of slicesOf(journal)) found.push(...wordsOf(rows, member));
      return found;
    },
    clear: (seqs) => [noteErased(seqs)],
    finish: () => journal.clearErased(),
  };
}

async function* slicesOf(journal: JournalSource, stream?: string): AsyncGenerator<readonly WorkroomEventsTable[]> {
  for (let after = 0; ; ) {
    const rows = await journal.slice({ after, limit: SLICE, stream });
    yield rows;
    if (rows.length < SLICE) return;
    after = rows.at(-1)?.seq ?? after;
    await turns(1);
  }
}

/** The journal in the database. */
const erasableDatabase = (reader: Reader): OwnErasable => ({
  async events(stream) {
    const all: WorkroomEventsTable[] = [];
    for (;;) {
      const rows = await reader.all(
        sql
          .selectFrom('workroom_events')
          .selectAll()
          .where('stream', '=', stream)
          .where('version', '>', all.at(-1)?.version ?? 0)
          .orderBy('version')
          .limit(SLICE),
      );
      all.push(...rows);
      if (rows.length < SLICE) return all;
      await turns(1);
    }
  },
  async eventsOf(member) {
    const found: Pick<WorkroomEventsTable, 'seq' | 'stream'>[] = [];
    for (let after = 0; ; after += SLICE) {
      const rows = await reader.all(
        sql
          .selectFrom('workroom_events')
          .select(['seq', 'stream', 'kind', 'actor', 'data', 'texts'])
          .where('seq', '>', after)
          .where('seq', '<=', after + SLICE)
          .orderBy('seq'),
      );
      if (rows.length === 0) return found;
      found.push(...wordsOf(rows, member));
      await turns(1);
    }
  },
  clear: (seqs) => [
    { sql: BLANK_TEXTS, parameters: [JSON.stringify(seqs)], expect: seqs.length, guard: GUARD },
    { sql: CLEAR_TEXTS, parameters: [JSON.stringify(seqs)], expect: seqs.length, guard: GUARD },
  ],
  finish: () => Promise.resolve(),
});

type Written = Pick<WorkroomEventsTable, 'seq' | 'kind' | 'stream' | 'actor' | 'data' | 'texts'>;

const wordsOf = (rows: readonly Written[], member: string): Pick<WorkroomEventsTable, 'seq' | 'stream'>[] =>
  rows.flatMap((row) => (row.texts !== null && isOf(row, member) ? [{ seq: row.seq, stream: row.stream }] : []));

/** Whether the words of an event are of this member. */
export function isOf(
  { kind, stream, actor, data }: Pick<WorkroomEventsTable, 'kind' | 'stream' | 'actor' | 'data'>,
  member: string,
): boolean {
  if (actor === `member:${member}`) return true;
  return stream === TEAM && kind === 'member.linked' && (JSON.parse(data) as { member?: unknown }).member === member;
}
