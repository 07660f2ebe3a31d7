// Reads the catalog: the view that a command needs, and the lists that people see.
import { sql as raw, type Selectable } from 'kysely';
import { SvcError } from '../../shared/svc-error.ts';
import { preparedRead, sql } from '../database/statement.ts';
import type { Tables } from '../database/tables.ts';
import type { Reader } from '../database/unit.ts';
import type { WorkCommand } from './board/commands.ts';
import { NO_TEAM } from './board/evolve.ts';
import {
  type Board,
  type Item,
  type ItemState,
  itemStream,
  noEntries,
  TEAM,
  type Team,
  type View,
} from './board/model.ts';
import { entityOf } from './journal/catalog-rows.ts';

/** Items that a new dependency may lead to. A longer chain is refused, since a circle could hide in it. */
const MOST_ITEMS = 5_000;

interface Concerned {
  /** Item of the command, and its stream. */
  readonly item: string;
  readonly stream: string;
  /** Stream of the item that it is to wait for. */
  readonly needed: string;
}
type ViewRow = Pick<Selectable<Tables['workroom_catalog']>, 'stream' | 'kind' | 'data' | 'quarantined' | 'last_item'>;

/** All that a decision looks at, in one read by keys: each read costs more by its snapshot than by its rows. */
const concerned = preparedRead<Concerned, ViewRow>(({ item, stream, needed }) => {
  const rows = sql
    .selectFrom('workroom_catalog as c')
    .select(['c.stream', 'c.kind', 'c.data', 'c.quarantined', 'c.last_item']);
  return rows
    .where('c.stream', '=', TEAM)
    .unionAll(rows.where('c.stream', '>=', 'board/').where('c.stream', '<', 'board0'))
    .unionAll(rows.where('c.stream', '=', stream))
    .unionAll(rows.where('c.stream', '=', needed))
    .unionAll(
      sql
        .selectFrom('workroom_needs as n')
        .innerJoin('workroom_catalog as c', (join) => join.on('c.stream', '=', raw`'item/' || ${raw.ref('n.item')}`))
        .select(['c.stream', 'c.kind', 'c.data', 'c.quarantined', 'c.last_item'])
        .where('n.needs', '=', item),
    );
});

/** Team, boards, and the items that a command concerns: itself, what it needs, and what waits for it. */
export async function readView(
  reader: Reader,
  command: WorkCommand | { readonly kind: 'look'; readonly item?: string },
): Promise<View> {
  const asked = command.kind === 'release' ? { item: command.stream.replace(/^item\//, '') } : command;
  const item = ('item' in asked ? asked.item : undefined) ?? '';
  const needs = 'needs' in asked ? asked.needs : undefined;
  const needed = needs === undefined ? '' : itemStream(needs);
  const rows = await reader.all(concerned({ item, stream: itemStream(item), needed }));
  let team: Team = NO_TEAM;
  const boards = noEntries<Board>();
  const items = noEntries<Item>();
  const lastItems = noEntries<number>();
  for (const row of rows) {
    const entity = entityOf(row);
    if (entity.kind === 'team') team = entity.team;
    else if (entity.kind === 'item') items[entity.item.id] = entity.item;
    else {
      boards[entity.board.id] = entity.board;
      lastItems[entity.board.id] = row.last_item;
    }
  }
  const quarantined = new Set(rows.filter((row) => row.quarantined === 1).map(({ stream }) => stream));
  // Only a new dependency asks where the chain leads.
  if (needs !== undefined) await readChain(reader, items, quarantined);
  return { team, boards, items, lastItems, quarantined: [...quarantined] };
}

/** Adds the items that those in `items` wait for, and so on. */
async function readChain(reader: Reader, items: Record<string, Item>, quarantined: Set<string>): Promise<void> {
  const unread = (of: readonly Item[]): readonly string[] => {
    const needed = of.flatMap(({ blockers }) =>
      blockers.flatMap(({ needs, resolved }) => (resolved ? [] : (needs ?? []))),
    );
    return [...new Set(needed)].filter((id) => items[id] === undefined);
  };
  let wanted = unread(Object.values(items));
  while (wanted.length > 0) {
    if (Object.keys(items).length >= MOST_ITEMS)
      throw new SvcError('invalid_request', `this dependency leads to more than ${MOST_ITEMS} items`);
    const rows = await reader.all(
      sql
        .selectFrom('workroom_catalog')
        .select(['stream', 'kind', 'data', 'quarantined'])
        .where('stream', 'in', wanted.map(itemStream)),
    );
    const read: Item[] = [];
    for (const row of rows) {
      const entity = entityOf(row);
      if (entity.kind === 'item') read.push(entity.item);
      if (row.quarantined === 1) quarantined.add(row.stream);
    }
    for (const item of read) items[item.id] = item;
    wanted = unread(read);
  }
}

export async function readItem(reader: Reader, id: string): Promise<Item | undefined> {
  const row = await reader.first(
    sql.selectFrom('workroom_catalog').select(['kind', 'data']).where('stream', '=', itemStream(id)),
  );
  const entity = row && entityOf(row);
  return entity?.kind === 'item' ? entity.item : undefined;
}

export interface ItemFilter {
  readonly board?: string | undefined;
  readonly state?: ItemState | undefined;
  readonly assignee?: string | undefined;
  /** With neither state nor this, items that have not ended. */
  readonly ended?: boolean | undefined;
}

export interface ItemPage {
  readonly items: readonly Item[];
  /** Hand it in as `after` for the next page; undefined: this was the last. */
  readonly next: string | undefined;
}

/** Items in order of their stream, in pages. */
export async function readItemPage(
  reader: Reader,
  filter: ItemFilter,
  { after, limit }: { readonly after: string | undefined; readonly limit: number },
): Promise<ItemPage> {
  let query = sql
    .selectFrom('workroom_catalog')
    .select(['stream', 'kind', 'data'])
    .where('kind', '=', 'item')
    .orderBy('updated_at', 'desc')
    .orderBy('stream')
    .limit(limit + 1);
  if (filter.board !== undefined) query = query.where('board', '=', filter.board);
  if (filter.assignee !== undefined) query = query.where('assignee', '=', filter.assignee);
  if (filter.state !== undefined) query = query.where('state', '=', filter.state);
  else if (filter.ended !== true) query = query.where('status', 'not in', ['done', 'cancelled']);
  if (after !== undefined) {
    const [at = '', stream = ''] = after.split('~');
    query = query.where(({ eb, or, and }) =>
      or([eb('updated_at', '<', Number(at)), and([eb('updated_at', '=', Number(at)), eb('stream', '>', stream)])]),
    );
  }
  const rows = await reader.all(query.select('updated_at'));
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  return {
    items: shown.flatMap((row) => {
      const entity = entityOf(row);
      return entity.kind === 'item' ? [entity.item] : [];
    }),
    next: rows.length > limit && last !== undefined ? `${last.updated_at}~${last.stream}` : undefined,
  };
}

export interface Head {
  readonly seq: number;
  readonly hash: string;
}

export const readHead = async (reader: Reader): Promise<Head> =>
  (await reader.first(sql.selectFrom('workroom_head').select(['seq', 'hash']).where('id', '=', 1))) ?? {
    seq: 0,
    hash: '',
  };
