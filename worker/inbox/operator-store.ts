// What an operator changes of an item: statements with guards on the item as it was seen.
import { sql, statement } from '../database/statement.ts';
import type { Reader, Statement } from '../database/unit.ts';
import { type InboxRow, OPEN } from './inbox-store.ts';

type SeenItem = Pick<InboxRow, 'id' | 'operator_changes'>;

/** What an operator changes holds for the item as it was seen: another operator's change in between refuses it. */
const changed = ({ id, operator_changes: changes }: SeenItem) =>
  sql
    .updateTable('inbox')
    .set({ operator_changes: changes + 1 })
    .where('id', '=', id)
    .where('operator_changes', '=', changes);

/** What an operator's change makes of a row. */
export const REPLAYED = { state: 'received', attempts: 0, deaths: 0, done_at: null, next_at: null } as const;
export const dropped = (at: number, reason: string) =>
  ({ state: 'done', done_at: at, next_at: null, last_error: reason }) as const;

export const held = (at: number, error: string) =>
  ({ state: 'dead', done_at: at, next_at: null, last_error: error }) as const;

/** An open item ends as dead by the word of an operator; a replay brings it back. */
export const keepFromHandlers = (row: SeenItem, at: number, error: string): Statement =>
  statement(changed(row).set(held(at, error)).where('state', 'in', OPEN), { expect: 1, guard: 'item' });

/** A dead item goes back in line: its attempts start again, what its handlers had finished stays finished. */
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

/** Calls of `once` that died without a result and may not be made twice: a person says that they are made again, or that they were done. */
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

/** Of one that was open it ends the wait; one that died meanwhile has ended it itself, and has to be seen as that first. */
export function dropItem(row: SeenItem & Pick<InboxRow, 'state'>, at: number, reason: string): Statement {
  return statement(
    changed(row)
      .set(dropped(at, reason))
      .where('state', 'in', row.state === 'dead' ? ['dead'] : OPEN),
    { expect: 1, guard: 'item' },
  );
}
