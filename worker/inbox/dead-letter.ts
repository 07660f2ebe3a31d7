// Stores a delivery that cannot be handled as a dead letter at once, so that an operator can inspect it.
import { SvcError } from '../../shared/svc-error.ts';
import type { Core } from '../core/core.ts';
import { tellDead } from '../core/dead-letter-log.ts';
import { recordEvents } from '../events/event-history.ts';
import type { NewEvent } from '../events/event-types.ts';
import { buryItem } from './inbox-store.ts';
import { type Delivery, prepareItem } from './prepare-item.ts';

export interface WhyDead {
  readonly code: string;
  readonly reason: string;
  /** May quote user content, so only the stored item has it. */
  readonly error: string;
}

/**
 * Stores the delivery as a dead letter in one transaction, so nothing ever claims it. Resolves to the item's id, or undefined if the delivery is
 * stored already. Throws `storage_unavailable`.
 */
export async function storeDead(
  { clock, runtimeId, writer, log }: Core,
  delivery: Delivery,
  { code, reason, error }: WhyDead,
): Promise<string | undefined> {
  const { row, insert, events } = prepareItem({ clock, runtimeId }, delivery);
  const at = clock.now();
  const data = { item: row.id, handler: null, attempts: 0, code, reason };
  const { endpoint } = delivery;
  const dead: NewEvent = { type: 'inbox.dead', at, runtimeId, endpoint, correlationId: row.id, data };
  const statements = [
    insert,
    buryItem({ id: row.id, at, code, handler: null, error }),
    ...recordEvents([...events, dead]),
  ];
  const answer = await writer.commit({ name: 'inbox.dead_letter', statements });
  if (answer.kind === 'committed') {
    tellDead({ log }, 'inbox', { id: row.id, endpoint, code });
    return row.id;
  }
  if (answer.reason === 'unique') return undefined;
  throw new SvcError('storage_unavailable', `the delivery could not be stored: ${answer.detail}`);
}
