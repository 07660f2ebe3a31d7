// Stored payloads of inbox items, with a version and a shape for each kind. All reads of payloads go through this file.

import type { InboxKind } from '../database/tables.ts';
import type { Arrival, HeaderMap } from '../sdk/index.ts';

export const PAYLOAD_VERSION = 1;

export type Payload =
  | {
      readonly kind: 'arrival';
      readonly arrival: Arrival;
      /** Set by the host alone: a scheduled job runs this command, with an operator's rights. */
      readonly origin?: 'job';
    }
  | { readonly kind: 'webhook'; readonly headers: HeaderMap; readonly text: string }
  | {
      readonly kind: 'task';
      readonly data: unknown;
      /** Set by the host alone: id of the scheduled job that runs this task, with an operator's rights. */
      readonly job?: string;
    }
  | {
      readonly kind: 'event';
      readonly type: string;
      readonly data: unknown;
      /** Set instead of an event: up to this many events were trimmed. */
      readonly missed?: { readonly atMost: number };
    }
  | { readonly kind: 'cron'; readonly due: number };

/** `sentAt` comes first in an arrival. The text after it is then equal for two deliveries of one arrival. */
export function writePayload(payload: Payload): string {
  if (payload.kind !== 'arrival') return JSON.stringify(payload);
  const { kind, origin } = payload;
  const { sentAt, ...rest } = payload.arrival;
  return JSON.stringify({ kind, arrival: { sentAt, ...rest }, ...(origin === undefined ? {} : { origin }) });
}

/** Throws if this program does not know the version or shape. The item then becomes a dead letter with that reason. */
export function readPayload(kind: InboxKind, version: number, text: string | null): Payload {
  if (text === null) throw new Error('the text of this item was erased by retention');
  if (version !== PAYLOAD_VERSION)
    throw new Error(`payload version ${version} is not known to this svc (it knows ${PAYLOAD_VERSION})`);
  const payload = JSON.parse(text) as Payload;
  if (payload.kind !== kind) throw new Error(`payload is of kind ${payload.kind}, the item of kind ${kind}`);
  return payload;
}
