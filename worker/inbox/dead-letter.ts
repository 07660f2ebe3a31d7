// A delivery that is over as it is stored: nobody can handle it, and it is there to be looked at.
import { SvcError } from '../../shared/svc-error.ts';
import type { Core } from '../core/core.ts';
import { recordEvents } from '../events/event-history.ts';
import type { NewEvent } from '../events/event-types.ts';
import { buryItem } from './inbox-store.ts';
import { type Delivery, prepareItem } from './prepare-item.ts';

export interface WhyDead {
  readonly code: string;
  readonly reason: string;
  /** May quote what a person wrote: the item alone has it. */
  readonly error: string;
}

/**
 * Stores it as a dead letter, in one unit: it never waits, and nothing claims it. Its id, unless it is stored already. Throws
 * `storage_unavailable`.
 */
export async function storeDead(
  { clock, runtimeId, writer }: Core,
  delivery: Delivery,
  { code, reason, error }: WhyDead,
): Promise<string | undefined> {
  const { row, insert, events } = prepareItem({ clock, runtimeId }, delivery);
  const at = clock.now();
  const data = { item: row.id, handler: null, attempts: 0, code, reason };
  const { endpoint } = delivery;
  const dead: NewEvent = { type: 'inbox.dead', at, runtimeId, endpoint, correlationId: row.id, data };
  const statements = [insert, buryItem({ id: row.id, at, error }), ...recordEvents([...events, dead])];
  const answer = await writer.commit({ name: 'inbox.dead_letter', statements });
  if (answer.kind === 'committed') return row.id;
  if (answer.reason === 'unique') return undefined;
  throw new SvcError('storage_unavailable', `the delivery could not be stored: ${answer.detail}`);
}
