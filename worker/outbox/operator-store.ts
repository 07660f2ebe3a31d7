// What an operator changes of a send: statements with guards on the send as it was seen.
import { sql, statement } from '../database/statement.ts';
import type { OutboxState } from '../database/tables.ts';
import type { Statement } from '../database/unit.ts';
import { OPEN, type OutboxRow } from './outbox-store.ts';

type SeenSend = Pick<OutboxRow, 'id' | 'operator_changes'>;

/** What an operator changes holds for the item as it was seen: another operator's change in between refuses it. */
const changed = ({ id, operator_changes: changes }: SeenSend) =>
  sql
    .updateTable('outbox')
    .set({ operator_changes: changes + 1 })
    .where('id', '=', id)
    .where('operator_changes', '=', changes);

/** What an operator's change makes of a row. */
export const replayed = (answer: 'again' | 'done', at: number) =>
  answer === 'again'
    ? ({ state: 'pending', attempts: 0, failures: 0, next_at: null, done_at: null, is_dropped: 0 } as const)
    : ({ state: 'sent', done_at: at, next_at: null, is_dropped: 0 } as const);
export const dropped = (at: number, reason: string) =>
  ({ state: 'dead', done_at: at, next_at: null, last_error: `dropped: ${reason}`, is_dropped: 1 }) as const;

/** Nobody knows whether the platform took a send whose call was under way. */
export const held = (state: OutboxState, at: number, reason: string) =>
  ({
    state: state === 'sending' ? 'unknown' : 'dead',
    done_at: at,
    next_at: null,
    last_error: `held: ${reason}`,
  }) as const;

/** Goes out no more until it is replayed. One that went under way meanwhile has to be seen as that first. */
export const holdSend = (row: SeenSend & Pick<OutboxRow, 'state'>, at: number, reason: string): Statement =>
  statement(
    changed(row)
      .set(held(row.state, at, reason))
      .where('state', 'in', row.state === 'sending' ? ['sending'] : ['pending', 'waiting']),
    { expect: 1, guard: 'send' },
  );

/** Dead or unknown goes out again, or is taken as sent by the operator's word. */
export function replaySend(row: SeenSend, answer: 'again' | 'done', at: number): Statement {
  const query = changed(row).set(replayed(answer, at)).where('state', 'in', ['dead', 'unknown']);
  return statement(answer === 'again' ? query.where('body', 'is not', null) : query, { expect: 1, guard: 'send' });
}

/** A dropped one is dead, and nobody has to decide about it any more. */
export const dropSend = (row: SeenSend, at: number, reason: string): Statement =>
  statement(
    changed(row)
      .set(dropped(at, reason))
      .where('state', 'in', [...OPEN, 'unknown', 'dead']),
    {
      expect: 1,
      guard: 'send',
    },
  );
