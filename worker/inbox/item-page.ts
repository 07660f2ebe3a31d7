// What the lists of stored items have in common, those that came in and those that go out: pages, cursors, revisions.
import type { ExpressionBuilder } from 'kysely';
import { SvcError } from '../../shared/svc-error.ts';
import type { Core } from '../core.ts';
import { sql } from '../database/statement.ts';
import type { InboxState, Tables } from '../database/tables.ts';
import type { Page, PageRequest } from '../http/host-port.ts';

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
  const from = sql.selectFrom(table as 'inbox'); // the columns named here are those of both
  let query = from.selectAll();
  let count = from.select(({ fn }) => fn.countAll<number>().as('n'));
  if (state !== undefined)
    [query, count] = [query.where('state', '=', state as InboxState), count.where('state', '=', state as InboxState)];
  if (endpoint !== undefined) [query, count] = [query.where(isOf(endpoint)), count.where(isOf(endpoint))];
  if (after !== undefined) query = query.where('seq', '<', cursorOf(after));
  const rows = (await core.reader.all(query.orderBy('seq', 'desc').limit(limit + 1))) as readonly unknown[] as Row[];
  const total = Number((await core.reader.first(count))?.n ?? 0);
  const last = rows[limit - 1];
  return {
    items: rows.slice(0, limit).map((row) => summary(row, texts)),
    total,
    ...(rows.length > limit && last !== undefined ? { next: String(last.seq) } : {}),
  };
}

/** An endpoint is named in full (`root/irc:irc~libera`) or by its short name (`irc~libera`), as everywhere. */
const isOf = (endpoint: string) => (eb: ExpressionBuilder<Tables, 'inbox'>) => {
  const short = eb.fn<string>('substr', ['endpoint', eb(eb.fn<number>('instr', ['endpoint', eb.val(':')]), '+', 1)]);
  return eb.or([eb('endpoint', '=', endpoint), eb(short, '=', endpoint)]);
};

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
