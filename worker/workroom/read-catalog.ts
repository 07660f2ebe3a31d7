// Reads the catalog: the view that a command needs, and the lists that people see.
import { SvcError } from '../../shared/svc-error.ts';
import { sql } from '../database/statement.ts';
import type { Reader } from '../database/unit.ts';
import type { WorkCommand } from './board/commands.ts';
import { NO_TEAM } from './board/evolve.ts';
import { type Board, type Item, type ItemState, itemStream, type Team, type View } from './board/model.ts';
import { entityOf } from './journal/catalog-rows.ts';

/** Items that a new dependency may lead to. A longer chain is refused, since a circle could hide in it. */
const MOST_ITEMS = 5_000;

/** Team, boards, and the items that a command concerns: itself, what it needs, and what waits for it. */
export async function readView(
  reader: Reader,
  command: WorkCommand | { readonly kind: 'look'; readonly item?: string },
): Promise<View> {
  const rows = await reader.all(
    sql
      .selectFrom('workroom_catalog')
      .select(['stream', 'kind', 'data', 'quarantined', 'last_item'])
      .where('kind', 'in', ['team', 'board']),
  );
  let team: Team = NO_TEAM;
  const boards: Record<string, Board> = {};
  const lastItems: Record<string, number> = {};
  for (const row of rows) {
    const entity = entityOf(row);
    if (entity.kind === 'team') team = entity.team;
    if (entity.kind !== 'board') continue;
    boards[entity.board.id] = entity.board;
    lastItems[entity.board.id] = row.last_item;
  }
  const quarantined = rows.filter((row) => row.quarantined === 1).map(({ stream }) => stream);
  const asked = command.kind === 'release' ? { item: command.stream.replace(/^item\//, '') } : command;
  const items = 'item' in asked && asked.item !== undefined ? await readItems(reader, asked, quarantined) : {};
  return { team, boards, items, lastItems, quarantined };
}

async function readItems(
  reader: Reader,
  command: { readonly item?: string; readonly needs?: string },
  quarantined: string[],
): Promise<Record<string, Item>> {
  const items: Record<string, Item> = {};
  const { item = '', needs } = command;
  const waiting = await reader.all(sql.selectFrom('workroom_needs').select('item').where('needs', '=', item));
  let wanted = [item, ...waiting.map((row) => row.item), ...(needs === undefined ? [] : [needs])];
  while (wanted.length > 0 && Object.keys(items).length < MOST_ITEMS) {
    const rows = await reader.all(
      sql
        .selectFrom('workroom_catalog')
        .select(['stream', 'kind', 'data', 'quarantined'])
        .where('stream', 'in', wanted.map(itemStream)),
    );
    for (const row of rows) {
      const entity = entityOf(row);
      if (entity.kind === 'item') items[entity.item.id] = entity.item;
      if (row.quarantined === 1) quarantined.push(row.stream);
    }
    // Only a new dependency asks where the chain leads.
    const next = needs === undefined ? [] : wanted.flatMap((id) => items[id]?.blockers ?? []);
    wanted = [...new Set(next.flatMap(({ needs: id, resolved }) => (id === undefined || resolved ? [] : id)))].filter(
      (id) => items[id] === undefined,
    );
  }
  if (wanted.length > 0)
    throw new SvcError('invalid_request', `this dependency leads to more than ${MOST_ITEMS} items`);
  return items;
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
