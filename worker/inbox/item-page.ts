// What the lists of stored items have in common, those that came in and those that go out: pages, cursors, revisions.
//
//   L1  However many items there are, `total` holds up nobody: it is counted some thousands of rows at a time, and the main thread is free
//       between. What came in on an account is found by an index.
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

/** Newest first. */
export async function readItemPage<Row extends { readonly seq: number }>(
  core: Core,
  { table, summary }: ListOf<Row>,
  { after, limit, state, endpoint, texts }: PageRequest,
): Promise<Page> {
  const all = sql.selectFrom(table as 'inbox'); // the columns named here are those of both
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

type Items = SelectQueryBuilder<Tables, 'inbox', object>;

const PIECE = 10_000;

function filtered(
  items: Items,
  { table, state, names }: { table: ListOf<never>['table']; state: string | undefined; names: string[] | undefined },
): Items {
  let from = items;
  if (state !== undefined) from = from.where('state', '=', state as InboxState);
  if (names === undefined) return from;
  // Those that go out have no index of their accounts in this order: the sign keeps SQLite from sorting all of an account.
  return table === 'inbox' ? from.where('endpoint', 'in', names) : from.where(raw<string>`+endpoint`, 'in', names);
}

/** By the smallest index, without looking at a row. */
async function countAll({ reader }: Core, items: Items): Promise<number> {
  return Number((await reader.first(items.select(({ fn }) => fn.countAll<number>().as('n'))))?.n ?? 0);
}

/** L1. */
async function countInPieces(
  core: Core,
  { all, from }: { readonly all: Items; readonly from: Items },
): Promise<number> {
  const ends = await core.reader.first(all.select('seq').orderBy('seq', 'desc').limit(1));
  const begins = await core.reader.first(all.select('seq').orderBy('seq').limit(1));
  let total = 0;
  for (let at = (begins?.seq ?? 1) - 1; at < (ends?.seq ?? 0); at += PIECE) {
    total += await countAll(core, from.where('seq', '>', at).where('seq', '<=', at + PIECE));
    await new Promise((resolve) => setImmediate(resolve));
  }
  return total;
}

/** An endpoint is named in full (`root/irc:irc~libera`) or by its short name (`irc~libera`), as everywhere: those that have items. */
async function endpointsNamed({ reader }: Core, table: ListOf<never>['table'], wanted: string): Promise<string[]> {
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

function cursorOf(text: string): number {
  const seq = Number(text);
  if (!/^\d{1,15}$/.test(text) || !Number.isSafeInteger(seq))
    throw new SvcError('invalid_request', '`after` is not a cursor of this list');
  return seq;
}

export const iso = (at: number | null): string | null => (at === null ? null : new Date(at).toISOString());

/** For full scope, as texts are: a short text is found by its digest and its exact size, one guess after the other. */
export const weightOf = ({ bytes, sha256 }: { readonly bytes: number; readonly sha256: string }) => ({ bytes, sha256 });

interface Attempted {
  readonly id: string;
  readonly state: string;
  readonly attempts: number;
  readonly operator_changes: number;
}

/** Never one that the item had before: attempts only grow until an operator changes it. */
export const revisionOf = ({ state, attempts, operator_changes: changes }: Attempted): string =>
  changes === 0 ? `${state}-${attempts}` : `${state}-${attempts}-${changes}`;

/** Throws `precondition_failed` when the item is not as the caller has seen it. `what`: `inbox item`. */
export function refuseStale(what: string, row: Attempted, revision: string | undefined): void {
  if (revision !== undefined && revision !== revisionOf(row))
    throw new SvcError('precondition_failed', `${what} ${row.id} has changed: it is ${row.state}`);
}
