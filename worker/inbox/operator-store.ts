// Operator changes of inbox items: statements guarded by the item as the operator saw it.
import { sql, statement } from '../database/statement.ts';
import type { Reader, Statement } from '../database/unit.ts';
import { BULK_GUARD } from './bulk-change.ts';
import { type InboxRow, OPEN } from './inbox-store.ts';

type SeenItem = Pick<InboxRow, 'id' | 'operator_changes'>;

/** Refuses the change if another operator changed the item meanwhile. */
const changed = ({ id, operator_changes: changes }: SeenItem) =>
  sql
    .updateTable('inbox')
    .set({ operator_changes: changes + 1 })
    .where('id', '=', id)
    .where('operator_changes', '=', changes);

/** Column values after a replay, a drop and a hold. */
export const REPLAYED = {
  state: 'received',
  attempts: 0,
  deaths: 0,
  done_at: null,
  next_at: null,
  code: null,
  failed_handler: null,
} as const;
export const dropped = (at: number, reason: string) =>
  ({ state: 'done', done_at: at, next_at: null, last_error: reason }) as const;

export const held = (at: number, error: string) =>
  ({ state: 'dead', done_at: at, next_at: null, last_error: error, code: 'held', failed_handler: null }) as const;

/** An open item becomes dead; a replay reopens it. */
export const keepFromHandlers = (row: SeenItem, at: number, error: string): Statement =>
  statement(changed(row).set(held(at, error)).where('state', 'in', OPEN), { expect: 1, guard: 'item' });

/** A dead item is queued again and its attempts start from 0. Handlers that had finished do not run again. */
export function replayItem(row: SeenItem): Statement[] {
  return [
    statement(changed(row).set(REPLAYED).where('state', '=', 'dead').where('body', 'is not', null), {
      expect: 1,
      guard: 'item',
    }),
    forgetRuns([row.id]),
  ];
}

/** Handlers that had finished do not run again. */
const forgetRuns = (ids: readonly string[]): Statement =>
  statement(
    sql
      .deleteFrom('handler_runs')
      .where('item_id', 'in', ids)
      .where((eb) => eb.or([eb('verdict', '=', 'dead'), eb('verdict', 'is', null)])),
  );

type SeenItems = readonly Pick<InboxRow, 'id' | 'seq'>[];

const changedAll = (rows: SeenItems) =>
  sql
    .updateTable('inbox')
    .set(({ eb }) => ({ operator_changes: eb('operator_changes', '+', 1) }))
    .where(
      'seq',
      'in',
      rows.map(({ seq }) => seq),
    )
    .where('state', '=', 'dead');

/** As `replayItem`, for many items. */
export function replayItems(rows: SeenItems): readonly Statement[] {
  return [
    statement(changedAll(rows).set(REPLAYED).where('body', 'is not', null), { expect: rows.length, guard: BULK_GUARD }),
    forgetRuns(rows.map(({ id }) => id)),
  ];
}

export const dropItems = (rows: SeenItems, at: number, reason: string): Statement =>
  statement(changedAll(rows).set(dropped(at, reason)), { expect: rows.length, guard: BULK_GUARD });

/** Settles `once` calls that died without a result under `unsure: 'hold'`. The operator says whether to make the call again or that it was done. */
export function settleCalls(ids: readonly string[], answer: 'again' | 'done'): Statement {
  if (answer === 'done')
    return statement(
      sql.updateTable('once_results').set({ state: 'done' }).where('item_id', 'in', ids).where('state', '=', 'called'),
    );
  return statement(sql.deleteFrom('once_results').where('item_id', 'in', ids).where('state', '=', 'called'));
}

export const readCalled = (reader: Reader, id: string): Promise<{ step: string } | undefined> =>
  reader.first(sql.selectFrom('once_results').select('step').where('item_id', '=', id).where('state', '=', 'called'));

/** Ends an item. If the item became dead after the operator saw it, the guard refuses the drop. */
export function dropItem(row: SeenItem & Pick<InboxRow, 'state'>, at: number, reason: string): Statement {
  return statement(
    changed(row)
      .set(dropped(at, reason))
      .where('state', 'in', row.state === 'dead' ? ['dead'] : OPEN),
    { expect: 1, guard: 'item' },
  );
}
