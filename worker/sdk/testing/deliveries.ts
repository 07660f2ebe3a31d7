// How the outside comes in to a test bot: arrivals, webhooks of plugins, tasks that are due.
import { createHash } from 'node:crypto';
import type { WebhookCapability } from '../../handling/capabilities.ts';
import type { Delivery } from '../../inbox/inbox.ts';
import type { Arrival } from '../adapter.ts';
import type { HttpAnswer, RawRequest } from '../request.ts';

/** A lane is endpoint, conversation and thread. */
export function arrivalDelivery(endpoint: string, arrival: Arrival): Delivery {
  const { id, thread = '' } = arrival.conversation;
  return { endpoint, deliveryId: arrival.id, payload: { kind: 'arrival', arrival }, lane: JSON.stringify([endpoint, id, thread]) };
}

export type WebhookDecision = { readonly kind: 'store'; readonly delivery: Delivery } | { readonly kind: 'answer'; readonly answer: HttpAnswer };

/** Verifies over the bytes as they came, then names what to store. */
export function webhookDelivery(capability: WebhookCapability, request: RawRequest): WebhookDecision {
  const { verify, accept, delivery, lane } = capability.spec;
  const verdict = verify(request);
  if (verdict.kind === 'refused') return { kind: 'answer', answer: { status: 401, json: { code: 'bad_signature' } } };
  if (verdict.kind === 'handshake') return { kind: 'answer', answer: verdict.answer };
  if (accept?.(request) === false) return { kind: 'answer', answer: { status: 202, json: { ignored: true } } };
  const text = Buffer.from(request.body).toString();
  const id = delivery(request);
  const deliveryId = id ?? createHash('sha256').update(text).digest('hex');
  const laneName = lane === undefined ? deliveryId : lane(JSON.parse(text) as never);
  return {
    kind: 'store',
    delivery: {
      endpoint: capability.id,
      deliveryId,
      weak: id === undefined,
      payload: { kind: 'webhook', headers: request.headers, text },
      lane: JSON.stringify([capability.id, laneName]),
      capability: capability.id,
    },
  };
}
