// Repeated sends: whether the platform drops the second copy, and how the adapter finds the first copy if it does not.
//
//   RESENDS-1  If the platform keeps a key for a limited time (`idempotent: { forMs }`), the time counts from the storing of the send. No attempt is
//              older.
//   RESENDS-2  A message made by another send is never taken for this send, even if both look alike. Otherwise this send would be lost.
import type { Core } from '../core/core.ts';
import type { Can, Outgoing } from '../sdk/index.ts';
import type { OutboxRow } from './outbox-store.ts';
import { readMessagesBeside } from './sent-message.ts';

/** True if calls of an account may run concurrently. After a crash, each call is identified by its key. */
export const knowsKeys = ({ idempotent = false }: Can): boolean => idempotent !== false;

/**
 * True if the platform drops the repeat of a send. With a limited key, the time since storing must be within the limit; a clock that was set back
 * proves nothing.
 */
export function dropsResend({ idempotent = false }: Can, { created_at: storedAt }: OutboxRow, at: number): boolean {
  if (typeof idempotent === 'boolean') return idempotent;
  return at >= storedAt && at - storedAt <= idempotent.forMs;
}

/** Marks the call as a repeat if the platform does not drop it. The adapter can then look for the earlier attempt. */
export async function asResend(
  { clock, reader }: Pick<Core, 'clock' | 'reader'>,
  call: Outgoing,
  { row, can }: { readonly row: OutboxRow; readonly can: Can },
): Promise<Outgoing> {
  const isFirst = row.attempts === 0 && row.last_error === null;
  if (isFirst || dropsResend(can, row, clock.now())) return call;
  return { ...call, repeat: true, search: { from: row.created_at, others: await readMessagesBeside(reader, row) } };
}
