// What the metrics of the Workroom show. Ended items are many, so they are counted from numbers that are stored or indexed, never one by one.
import type { Core } from '../core/core.ts';
import { sql } from '../database/statement.ts';
import type { Reader } from '../database/unit.ts';
import type { WorkroomFigures } from '../metrics/workroom-metrics.ts';
import { type Item, type ItemState, openBlockers, REFUSALS } from './board/model.ts';
import { entityOf } from './journal/catalog-rows.ts';
import type { JournalSource } from './journal/journal.ts';
import { readHead } from './read-catalog.ts';
import type { Workroom } from './workroom.ts';

/** States of items that have not ended. */
const OPEN: readonly ItemState[] = ['open', 'assigned', 'active', 'blocked', 'review'];

const STATES: readonly ItemState[] = [...OPEN, 'done', 'cancelled'];

interface BoardFigures {
  readonly board: string;
  readonly states: Readonly<Partial<Record<ItemState, number>>>;
  readonly overdue: number;
  /** Since when the oldest open blocker of the board is there. */
  readonly blockedSince: number | undefined;
}

export interface FiguresOf {
  readonly workroom: Workroom;
  readonly source: Pick<JournalSource, 'commands'>;
  /** Commands are counted from this event on, the head at the start. */
  readonly begin: number;
}

export class Figures {
  readonly #core: Core;
  readonly #workroom: Workroom;
  readonly #source: FiguresOf['source'];
  #known: { readonly seq: number; readonly boards: readonly BoardFigures[] } | undefined;
  #counted: { readonly seq: number; readonly accepted: number };

  constructor(core: Core, { workroom, source, begin }: FiguresOf) {
    this.#core = core;
    this.#workroom = workroom;
    this.#source = source;
    this.#counted = { seq: begin, accepted: 0 };
  }

  async read(isSound: boolean | undefined): Promise<WorkroomFigures> {
    const { reader, clock } = this.#core;
    const { seq } = await readHead(reader);
    const boards = this.#known?.seq === seq ? this.#known.boards : await readBoards(reader);
    this.#known = { seq, boards };
    if (seq > this.#counted.seq) await this.#count(seq);
    const now = clock.now();
    return {
      items: boards.flatMap(({ board, states }) =>
        STATES.map((state) => ({ board, state, count: states[state] ?? 0 })),
      ),
      overdue: boards.map(({ board, overdue }) => ({ board, count: overdue })),
      blockedOldest: boards.map(({ board, blockedSince }) => ({
        board,
        seconds: blockedSince === undefined ? 0 : Math.max(0, now - blockedSince) / 1_000,
      })),
      commands: [
        { outcome: 'accepted', count: this.#counted.accepted },
        ...REFUSALS.map((outcome) => ({ outcome, count: this.#workroom.refusals.get(outcome) ?? 0 })),
      ],
      seq,
      isSound,
    };
  }

  async #count(seq: number): Promise<void> {
    const more = await this.#source.commands(this.#counted.seq, seq);
    this.#counted = { seq, accepted: this.#counted.accepted + more };
  }
}

const readBoards = async (reader: Reader): Promise<readonly BoardFigures[]> =>
  Promise.all((await readCounts(reader)).map(async (counts) => ({ ...counts, ...(await readLate(reader, counts)) })));

/** Number of items by board and state. Items are never removed, so what is neither open nor cancelled is done. */
export async function readCounts(reader: Reader): Promise<readonly Pick<BoardFigures, 'board' | 'states'>[]> {
  const boards = await reader.all(
    sql
      .selectFrom('workroom_catalog')
      .select(['board', 'last_item'])
      .where('stream', '>', 'board/')
      .where('stream', '<', 'board0'),
  );
  return Promise.all(
    boards.map(async ({ board, last_item: all }) => {
      const counts = await reader.all(
        sql
          .selectFrom('workroom_catalog')
          .select(({ fn }) => ['state', fn.countAll<number>().as('items')])
          .where('board', '=', board)
          .where('state', 'in', [...OPEN, 'cancelled'])
          .groupBy('state'),
      );
      const done = all - counts.reduce((sum, { items }) => sum + items, 0);
      const states = Object.fromEntries(counts.map(({ state, items }) => [state, items]));
      return { board: board ?? '', states: done === 0 ? states : { ...states, done } };
    }),
  );
}

async function readLate(
  reader: Reader,
  { board, states }: Pick<BoardFigures, 'board' | 'states'>,
): Promise<Pick<BoardFigures, 'overdue' | 'blockedSince'>> {
  if (OPEN.every((state) => states[state] === undefined)) return { overdue: 0, blockedSince: undefined };
  const open = sql.selectFrom('workroom_catalog').select(['kind', 'data']).where('board', '=', board);
  const late = await reader.all(open.where('state', 'in', OPEN).where('data', 'like', '%"overdueAt":%'));
  const blocked = await reader.all(open.where('state', '=', 'blocked'));
  const since = blocked.flatMap((row) => openBlockers(itemOf(row)).map((blocker) => blocker.since));
  return {
    overdue: late.filter((row) => isOverdue(itemOf(row))).length,
    blockedSince: since.length === 0 ? undefined : since.reduce((a, b) => Math.min(a, b)),
  };
}

const isOverdue = (item: Item): boolean =>
  [item, ...openBlockers(item)].some(({ overdueAt }) => overdueAt !== undefined);

function itemOf(row: Parameters<typeof entityOf>[0]): Item {
  const entity = entityOf(row);
  if (entity.kind !== 'item') throw new Error(`a ${entity.kind} has a state`);
  return entity.item;
}
