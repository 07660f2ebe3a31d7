// Statements and reads of the inbox tables. Writing functions return guarded statements; callers join them into transactions.
import type { Selectable } from 'kysely';
import { isOpen } from '../database/open-rows.ts';
import { prepared, preparedRead, sql, statement } from '../database/statement.ts';
import type { InboxKind, InboxTable } from '../database/tables.ts';
import type { Reader, Statement } from '../database/unit.ts';
import { NEXT_GUARD } from '../lanes/claim-ahead.ts';
import type { SetBack } from '../timers/due-store.ts';

export const OPEN = ['received', 'handling', 'waiting'] as const;

/** Inserts the item. The transaction is refused as `unique` if this delivery is stored already. */
export const receiveItem = prepared<Omit<InboxRow, 'seq'>>((item) =>
  sql.insertInto('inbox').values({
    id: item.id,
    endpoint: item.endpoint,
    delivery_id: item.delivery_id,
    weak: item.weak,
    kind: item.kind,
    lane: item.lane,
    capability: item.capability,
    payload_version: item.payload_version,
    body: item.body,
    sha256: item.sha256,
    bytes: item.bytes,
    received_at: item.received_at,
    state: item.state,
    attempts: item.attempts,
    done_at: item.done_at,
    actor: item.actor,
    correlation_id: item.correlation_id,
    causation_id: item.causation_id,
  }),
);

/** Claims an open item and counts one attempt. */
export const claiming = ({ id }: { readonly id: string }) =>
  sql
    .updateTable('inbox')
    .set(({ eb }) => ({ state: 'handling' as const, attempts: eb('attempts', '+', 1), next_at: null }))
    .where('id', '=', id)
    .where('state', 'in', OPEN);

/** The attempt is committed before anything runs. Otherwise an item that kills the process would come back for ever. */
export const claimItem = prepared<{ id: string }>(claiming, { expect: 1, guard: 'item' });

/** Claims the next item of a lane in the transaction that ends the item before it. */
export const claimNextItem = prepared<{ id: string }>(claiming, { expect: 1, guard: NEXT_GUARD });

/** Guard of every handler decision: the item must still be in `handling`, so an operator has not ended it. */
export const holdItem = prepared<{ id: string }>(
  ({ id }) => sql.updateTable('inbox').set({ state: 'handling' }).where('id', '=', id).where('state', '=', 'handling'),
  { expect: 1, guard: 'item' },
);

export const finishItem = prepared<{ id: string; at: number }>(
  ({ id, at }) =>
    sql
      .updateTable('inbox')
      .set({ state: 'done', done_at: at, next_at: null })
      .where('id', '=', id)
      .where('state', 'in', OPEN),
  { expect: 1, guard: 'item' },
);

export const postponeItem = prepared<{ id: string; nextAt: number; error: string }>(
  ({ id, nextAt, error }) =>
    sql
      .updateTable('inbox')
      .set({ state: 'waiting', next_at: nextAt, last_error: error })
      .where('id', '=', id)
      .where('state', '=', 'handling'),
  { expect: 1, guard: 'item' },
);

const endWait = prepared<{ id: string }>(({ id }) =>
  sql.updateTable('inbox').set({ next_at: null }).where('id', '=', id).where('state', '=', 'waiting'),
);

const endRunWait = prepared<{ id: string; at: number }>(({ id, at }) =>
  sql.updateTable('handler_runs').set({ next_at: null }).where('item_id', '=', id).where('next_at', '<=', at),
);

/** Ends the waits that were due at `at`: the item's wait and those of its handlers. */
const isDue = (id: string, at: number): readonly Statement[] => [endWait({ id }), endRunWait({ id, at })];

/** The wall clock was set back. Waits are moved back by the same amount, so nothing waits longer. */
const bringForward = ({ byMs, after }: SetBack): readonly Statement[] => [
  statement(
    sql
      .updateTable('inbox')
      .set(({ eb }) => ({ next_at: eb('next_at', '-', byMs) }))
      .where(isOpen)
      .where('next_at', '>', after),
  ),
  statement(
    sql
      .updateTable('handler_runs')
      .set(({ eb }) => ({ next_at: eb('next_at', '-', byMs) }))
      .where('item_id', 'in', sql.selectFrom('inbox').select('id').where(isOpen))
      .where('next_at', '>', after),
  ),
];

/** How the timer service changes the waits of inbox items. */
export const itemWaits = { isDue, bringForward };

/** Why an item is dead. */
export interface Death {
  /** Stable. */
  readonly code: string;
  /** Null if no handler failed. */
  readonly handler: string | null;
  /** May quote user content, so only the item and the log have it. */
  readonly error: string;
}

export const buryItem = prepared<{ id: string; at: number } & Death>(
  ({ id, at, code, handler, error }) =>
    sql
      .updateTable('inbox')
      .set({ state: 'dead', done_at: at, next_at: null, last_error: error, code, failed_handler: handler })
      .where('id', '=', id)
      .where('state', 'in', OPEN),
  { expect: 1, guard: 'item' },
);

export const setVerdict = prepared<{
  item: string;
  handler: string;
  verdict: 'done' | 'stop' | 'told' | 'dead';
  error: string | null;
}>(({ item, handler, verdict, error }) =>
  sql
    .insertInto('handler_runs')
    .values({ item_id: item, handler, attempts: 1, verdict, error })
    .onConflict((conflict) => conflict.columns(['item_id', 'handler']).doUpdateSet({ verdict, error, next_at: null })),
);

/** Counts an attempt of one handler before it runs, from the second attempt on. */
export const countRun = prepared<{ item: string; handler: string }>(({ item, handler }) =>
  sql
    .insertInto('handler_runs')
    .values({ item_id: item, handler, attempts: 2 })
    .onConflict((conflict) =>
      conflict
        .columns(['item_id', 'handler'])
        .doUpdateSet(({ eb }) => ({ attempts: eb('handler_runs.attempts', '+', 1) })),
    ),
);

export const postponeRun = prepared<{ item: string; handler: string; attempts: number; nextAt: number; error: string }>(
  ({ item, handler, attempts, nextAt, error }) =>
    sql
      .insertInto('handler_runs')
      .values({ item_id: item, handler, attempts, failures: 1, next_at: nextAt, error })
      .onConflict((conflict) =>
        conflict
          .columns(['item_id', 'handler'])
          .doUpdateSet(({ eb }) => ({ next_at: nextAt, error, failures: eb('handler_runs.failures', '+', 1) })),
      ),
);

export const forgetOnce = prepared<{ item: string; handler: string }>(({ item, handler }) =>
  sql.deleteFrom('once_results').where('item_id', '=', item).where('handler', '=', handler),
);

export type InboxRow = Selectable<InboxTable>;
export interface ItemHead {
  readonly seq: number;
  readonly id: string;
  readonly endpoint: string;
  readonly lane: string;
  readonly kind: InboxKind;
  readonly bytes: number;
  readonly nextAt: number | null;
}

const openItems = preparedRead<{ after: number; limit: number }, ItemHead>(({ after, limit }) =>
  sql
    .selectFrom('inbox')
    .select(['seq', 'id', 'endpoint', 'lane', 'kind', 'bytes', 'next_at as nextAt'])
    .where(isOpen)
    .where('seq', '>', after)
    .orderBy('seq')
    .limit(limit),
);

/** Open items with `seq` above `after`, in order of arrival. */
export function readOpen(reader: Reader, after: number, limit: number): Promise<ItemHead[]> {
  return reader.all(openItems({ after, limit }));
}

export function readLane(
  reader: Reader,
  lane: string,
  { after, limit }: { readonly after: number; readonly limit: number },
): Promise<ItemHead[]> {
  return reader.all(
    sql
      .selectFrom('inbox')
      .select(['seq', 'id', 'endpoint', 'lane', 'kind', 'bytes', 'next_at as nextAt'])
      .where('lane', '=', lane)
      .where(isOpen)
      .where('seq', '>', after)
      .orderBy('seq')
      .limit(limit),
  );
}

const itemById = preparedRead<{ id: string }, InboxRow>(({ id }) =>
  sql.selectFrom('inbox').selectAll().where('id', '=', id),
);
export const readItem = (reader: Reader, id: string): Promise<InboxRow | undefined> => reader.first(itemById({ id }));

export const readDelivery = (
  reader: Reader,
  endpoint: string,
  deliveryId: string,
): Promise<{ id: string; sha256: string } | undefined> =>
  reader.first(
    sql
      .selectFrom('inbox')
      .select(['id', 'sha256'])
      .where('endpoint', '=', endpoint)
      .where('delivery_id', '=', deliveryId),
  );

export const readRuns = (reader: Reader, item: string) =>
  reader.all(sql.selectFrom('handler_runs').selectAll().where('item_id', '=', item));
