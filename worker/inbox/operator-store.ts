// Operator changes of inbox items: statements guarded by the item as the operator saw it.
import { sql, statement } from '../database/statement.ts';
import type { Reader, Statement } from '../database/unit.ts';
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
    statement(
      sql
        .deleteFrom('handler_runs')
        .where('item_id', '=', row.id)
        .where((eb) => eb.or([eb('verdict', '=', 'dead'), eb('verdict', 'is', null)])),
    ),
  ];
}

/** Settles `once` calls that died without a result under `unsure: 'hold'`. The operator says whether to make the call again or that it was done. */
export function settleCalls(id: string, answer: 'again' | 'done'): Statement {
  const of = { item: id, state: 'called' } as const;
  if (answer === 'done')
    return statement(
      sql
        .updateTable('once_results')
        .set({ state: 'done' })
        .where('item_id', '=', of.item)
        .where('state', '=', of.state),
    );
  return statement(sql.deleteFrom('once_results').where('item_id', '=', of.item).where('state', '=', of.state));
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
