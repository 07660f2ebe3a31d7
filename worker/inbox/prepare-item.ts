// A delivery as it will be stored: its row, its digest and the event that tells of it.
import { createHash } from 'node:crypto';
import { uuidv7 } from '../../shared/identifiers.ts';
import type { Core } from '../core.ts';
import type { Statement } from '../database/unit.ts';
import type { NewEvent } from '../events/event-types.ts';
import { receiveItem } from './inbox-store.ts';
import { PAYLOAD_VERSION, type Payload, writePayload } from './payload.ts';

export interface Delivery {
  readonly endpoint: string;
  readonly deliveryId: string;
  /** True when the platform gave no id and it was made from the body. */
  readonly weak?: boolean;
  readonly payload: Payload;
  readonly lane: string;
  readonly capability?: string;
  readonly actor?: string;
  readonly causationId?: string;
}

export interface PreparedItem {
  readonly id: string;
  readonly delivery: Delivery;
  readonly sha256: string;
  readonly bytes: number;
  readonly insert: Statement;
  readonly event: NewEvent;
}

export function prepareItem(core: Core, delivery: Delivery): PreparedItem {
  const at = core.clock.now();
  const id = uuidv7(at);
  const body = writePayload(delivery.payload);
  const sha256 = createHash('sha256').update(identityOf(delivery.payload, body)).digest('hex');
  const bytes = Buffer.byteLength(body);
  const insert = receiveItem({
    id,
    endpoint: delivery.endpoint,
    deliveryId: delivery.deliveryId,
    weak: delivery.weak === true ? 1 : 0,
    kind: delivery.payload.kind,
    lane: delivery.lane,
    capability: delivery.capability ?? null,
    payloadVersion: PAYLOAD_VERSION,
    body,
    sha256,
    bytes,
    receivedAt: at,
    actor: delivery.actor ?? null,
    correlationId: id,
    causationId: delivery.causationId ?? null,
  });
  const event: NewEvent = {
    type: 'inbox.received',
    at,
    runtimeId: core.runtimeId,
    endpoint: delivery.endpoint,
    correlationId: id,
    causationId: delivery.causationId,
    data: {
      item: id,
      kind: delivery.payload.kind,
      delivery: delivery.deliveryId,
      lane: delivery.lane,
      bytes,
      sha256,
    },
  };
  return { id, delivery, sha256, bytes, insert, event };
}

/** What makes two deliveries the same: not the moment at which a platform, or we, say that it was sent. */
function identityOf(payload: Payload, body: string): string {
  if (payload.kind === 'webhook') return payload.text;
  return payload.kind === 'arrival' ? JSON.stringify({ ...payload.arrival, sentAt: 0 }) : body;
}

export function withoutRepeats(items: readonly PreparedItem[]): readonly PreparedItem[] {
  const seen = new Set<string>();
  return items.filter(({ delivery }) => {
    const key = `${delivery.endpoint} ${delivery.deliveryId}`;
    return !seen.has(key) && seen.add(key) !== undefined;
  });
}
