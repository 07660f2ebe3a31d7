// Pages, cursors and revisions of item lists, shared by inbox and outbox.
//
//   ITEM-PAGE-1  Counting `total` does not block the event loop: filtered rows are counted 10,000 at a time. The rows of an inbox account are found
//                by an index.
import { sql as raw, type SelectQueryBuilder } from 'kysely';
import { SvcError } from '../../shared/svc-error.ts';
import type { Core } from '../core/core.ts';
import { sql } from '../database/statement.ts';
import type { InboxState, Tables } from '../database/tables.ts';
import type { Page, PageRequest } from '../http/api/items-api.ts';

export interface ListOf<Row> {
  readonly table: 'inbox' | 'outbox';
  readonly summary: (row: Row, texts: boolean) => Readonly<Record<string, unknown>>;
}

/** One page, newest first. */
export async function readItemPage<Row extends { readonly seq: number }>(
  core: Core,
  { table, summary }: ListOf<Row>,
  { after, limit, state, endpoint, texts }: PageRequest,
): Promise<Page> {
  const all = sql.selectFrom(table as 'inbox'); // both tables have the columns used here
  const names = endpoint === undefined ? undefined : await endpointsNamed(core, table, endpoint);
  const from = filtered(all, { table, state, names });
  let query = from.selectAll();
  if (after !== undefined) query = query.where('seq', '<', cursorOf(after));
  const rows = (await core.reader.all(query.orderBy('seq', 'desc').limit(limit + 1))) as readonly unknown[] as Row[];
  const total = from === all ? await countAll(core, all) : await countInPieces(core, { all, from });
  const last = rows[limit - 1];
  return {
    items: rows.slice(0, limit).map((row) => summary(row, texts)),
    total,
    ...(rows.length > limit && last !== undefined ? { next: String(last.seq) } : {}),
  };
}

export type Items = SelectQueryBuilder<Tables, 'inbox', object>;

const PIECE = 10_000;

function filtered(
  items: Items,
  { table, state, names }: { table: ListOf<never>['table']; state: string | undefined; names: string[] | undefined },
): Items {
  let from = items;
  if (state !== undefined) from = from.where('state', '=', state as InboxState);
  if (names === undefined) return from;
  // The outbox has no index on account and seq. The unary plus keeps SQLite from using the account index and sorting all its rows.
  return table === 'inbox' ? from.where('endpoint', 'in', names) : from.where(raw<string>`+endpoint`, 'in', names);
}

/** Counts over the smallest index, without reading rows. */
async function countAll({ reader }: Core, items: Items): Promise<number> {
  return Number((await reader.first(items.select(({ fn }) => fn.countAll<number>().as('n'))))?.n ?? 0);
}

/** Counts in pieces and yields to the event loop between them. */
export async function countInPieces(
  core: Core,
  { all, from, after }: { readonly all: Items; readonly from: Items; readonly after?: number },
): Promise<number> {
  const ends = await core.reader.first(all.select('seq').orderBy('seq', 'desc').limit(1));
  const begins = await core.reader.first(all.select('seq').orderBy('seq').limit(1));
  let total = 0;
  for (let at = after ?? (begins?.seq ?? 1) - 1; at < (ends?.seq ?? 0); at += PIECE) {
    total += await countAll(core, from.where('seq', '>', at).where('seq', '<=', at + PIECE));
    await new Promise((resolve) => setImmediate(resolve));
  }
  return total;
}

/** The endpoints with items that `wanted` names, in full (`root/irc:irc~libera`) or short (`irc~libera`). */
export async function endpointsNamed(
  { reader }: Core,
  table: ListOf<never>['table'],
  wanted: string,
): Promise<string[]> {
  const named: string[] = [];
  for (let last = ''; ; ) {
    const next = sql
      .selectFrom(table as 'inbox')
      .select('endpoint')
      .where('endpoint', '>', last)
      .orderBy('endpoint')
      .limit(1);
    const found = (await reader.first(next))?.endpoint;
    if (found === undefined) return named;
    if (found === wanted || found.slice(found.indexOf(':') + 1) === wanted) named.push(found);
    last = found;
  }
}

export function cursorOf(text: string): number {
  const seq = Number(text);
  if (!/^\d{1,15}$/.test(text) || !Number.isSafeInteger(seq))
    throw new SvcError('invalid_request', '`after` is not a cursor of this list');
  return seq;
}

export const iso = (at: number | null): string | null => (at === null ? null : new Date(at).toISOString());

/** Only for full scope, like texts: digest and exact size would let a reader guess a short text. */
export const weightOf = ({ bytes, sha256 }: { readonly bytes: number; readonly sha256: string }) => ({ bytes, sha256 });

interface Attempted {
  readonly id: string;
  readonly state: string;
  readonly attempts: number;
  readonly operator_changes: number;
}

/** Revision of an item, never repeated: attempts only grow, and each operator change is counted. */
export const revisionOf = ({ state, attempts, operator_changes: changes }: Attempted): string =>
  changes === 0 ? `${state}-${attempts}` : `${state}-${attempts}-${changes}`;

/** Throws `precondition_failed` if the item has changed since the caller saw it. `what` is, for example, `inbox item`. */
export function refuseStale(what: string, row: Attempted, revision: string | undefined): void {
  if (revision !== undefined && revision !== revisionOf(row))
    throw new SvcError('precondition_failed', `${what} ${row.id} has changed: it is ${row.state}`);
}
