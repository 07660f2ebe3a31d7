// Sends that are made again: whether the platform drops the second of them, and what its adapter needs to find the first where it does not.
//
//   R1  A key that the platform keeps for a time (`idempotent: { forMs }`) counts from when the send was stored: no attempt of it is older.
//   R2  A found message is none that another send of the conversation has made, however alike they are: taken for this one, this one were lost.
import type { Core } from '../core/core.ts';
import type { Can, Outgoing } from '../sdk/index.ts';
import type { OutboxRow } from './outbox-store.ts';
import { readMessagesBeside } from './sent-message.ts';

/** Calls of an account may be under way side by side: each can be told from the others after a crash. */
export const knowsKeys = ({ idempotent = false }: Can): boolean => idempotent !== false;

/** R1. A clock that was set back tells nothing of how long it is ago. */
export function dropsResend({ idempotent = false }: Can, { created_at: storedAt }: OutboxRow, at: number): boolean {
  if (typeof idempotent === 'boolean') return idempotent;
  return at >= storedAt && at - storedAt <= idempotent.forMs;
}

/** Where the platform does not drop it, the adapter may be able to find what came of the attempt before. */
export async function asResend(
  { clock, reader }: Pick<Core, 'clock' | 'reader'>,
  call: Outgoing,
  { row, can }: { readonly row: OutboxRow; readonly can: Can },
): Promise<Outgoing> {
  const isFirst = row.attempts === 0 && row.last_error === null;
  if (isFirst || dropsResend(can, row, clock.now())) return call;
  return { ...call, repeat: true, search: { from: row.created_at, others: await readMessagesBeside(reader, row) } };
}
