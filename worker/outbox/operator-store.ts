// Operator changes of sends: statements guarded by the send as the operator saw it.
import { sql, statement } from '../database/statement.ts';
import type { OutboxState } from '../database/tables.ts';
import type { Statement } from '../database/unit.ts';
import { BULK_GUARD } from '../inbox/bulk-change.ts';
import { OPEN, type OutboxRow } from './outbox-store.ts';

type SeenSend = Pick<OutboxRow, 'id' | 'operator_changes'>;

/** Refuses the change if another operator changed the send meanwhile. */
const changed = ({ id, operator_changes: changes }: SeenSend) =>
  sql
    .updateTable('outbox')
    .set({ operator_changes: changes + 1 })
    .where('id', '=', id)
    .where('operator_changes', '=', changes);

/** Column values after a replay and a drop. */
export const replayed = (answer: 'again' | 'done', at: number) =>
  answer === 'again'
    ? ({ state: 'pending', attempts: 0, failures: 0, next_at: null, done_at: null, is_dropped: 0, code: null } as const)
    : ({ state: 'sent', done_at: at, next_at: null, is_dropped: 0, code: null } as const);
export const dropped = (at: number, reason: string) =>
  ({ state: 'dead', done_at: at, next_at: null, last_error: `dropped: ${reason}`, is_dropped: 1 }) as const;

/** Column values after a hold. A send in state `sending` becomes `unknown`, because the platform may have taken it. */
export const held = (state: OutboxState, at: number, reason: string) =>
  ({
    state: state === 'sending' ? 'unknown' : 'dead',
    done_at: at,
    next_at: null,
    last_error: `held: ${reason}`,
    code: 'held',
  }) as const;

/** Holds a send until it is replayed. If its call began after the operator saw it, the guard refuses. */
export const holdSend = (row: SeenSend & Pick<OutboxRow, 'state'>, at: number, reason: string): Statement =>
  statement(
    changed(row)
      .set(held(row.state, at, reason))
      .where('state', 'in', row.state === 'sending' ? ['sending'] : ['pending', 'waiting']),
    { expect: 1, guard: 'send' },
  );

/** Sends a dead or unknown send again, or marks it as sent, as the operator says. */
export function replaySend(row: SeenSend, answer: 'again' | 'done', at: number): Statement {
  const query = changed(row).set(replayed(answer, at)).where('state', 'in', ['dead', 'unknown']);
  return statement(answer === 'again' ? query.where('body', 'is not', null) : query, { expect: 1, guard: 'send' });
}

type SeenSends = readonly Pick<OutboxRow, 'seq'>[];

const changedAll = (rows: SeenSends, state: 'dead' | 'unknown') =>
  sql
    .updateTable('outbox')
    .set(({ eb }) => ({ operator_changes: eb('operator_changes', '+', 1) }))
    .where(
      'seq',
      'in',
      rows.map(({ seq }) => seq),
    )
    .where('state', '=', state)
    .where('is_dropped', '=', 0);

const all = (rows: SeenSends) => ({ expect: rows.length, guard: BULK_GUARD });

interface ForMany {
  readonly state: 'dead' | 'unknown';
  readonly at: number;
}

/** As `replaySend`, for many sends. */
export function replaySends(
  rows: SeenSends,
  { state, at, answer }: ForMany & { readonly answer: 'again' | 'done' },
): Statement {
  const query = changedAll(rows, state).set(replayed(answer, at));
  return statement(answer === 'again' ? query.where('body', 'is not', null) : query, all(rows));
}

/** As `dropSend`, for many sends. */
export const dropSends = (rows: SeenSends, { state, at, reason }: ForMany & { readonly reason: string }): Statement =>
  statement(changedAll(rows, state).set(dropped(at, reason)), all(rows));

/** A dropped send is dead and needs no further decision. */
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

/** Drops sends that were never tried. Refused if a call has begun meanwhile. */
export const dropWaiting = (rows: readonly Pick<OutboxRow, 'id'>[], at: number, reason: string): Statement =>
  statement(
    sql
      .updateTable('outbox')
      .set(dropped(at, reason))
      .where(
        'id',
        'in',
        rows.map(({ id }) => id),
      )
      .where('state', 'in', ['pending', 'waiting'])
      .where('attempts', '=', 0)
      .where('failures', '=', 0),
    { expect: rows.length, guard: 'send' },
  );
