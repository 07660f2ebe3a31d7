// Stored payloads of inbox items: a version and a shape for each kind. Whoever reads a stored payload reads it through here.

import type { InboxKind } from '../database/tables.ts';
import type { Arrival, HeaderMap } from '../sdk/index.ts';

export const PAYLOAD_VERSION = 1;

export type Payload =
  | { readonly kind: 'arrival'; readonly arrival: Arrival }
  | { readonly kind: 'webhook'; readonly headers: HeaderMap; readonly text: string }
  | { readonly kind: 'task'; readonly data: unknown }
  | {
      readonly kind: 'event';
      readonly type: string;
      readonly data: unknown;
      /** In the place of an event: some are gone. */
      readonly missed?: { readonly atMost: number };
    }
  | { readonly kind: 'cron'; readonly due: number };

/** The moment of sending stands first in an arrival, so that the text after it is what makes two arrivals the same. */
export function writePayload(payload: Payload): string {
  if (payload.kind !== 'arrival') return JSON.stringify(payload);
  const { sentAt, ...rest } = payload.arrival;
  return JSON.stringify({ kind: payload.kind, arrival: { sentAt, ...rest } });
}

/** Throws when the text is of a version or shape that this program does not know: the item becomes a dead letter that says so. */
export function readPayload(kind: InboxKind, version: number, text: string | null): Payload {
  if (text === null) throw new Error('the text of this item was erased by retention');
  if (version !== PAYLOAD_VERSION)
    throw new Error(`payload version ${version} is not known to this svc (it knows ${PAYLOAD_VERSION})`);
  const payload = JSON.parse(text) as Payload;
  if (payload.kind !== kind) throw new Error(`payload is of kind ${payload.kind}, the item of kind ${kind}`);
  return payload;
}
