// Inbox items on the wire. Texts and names of people are in them for full scope only.
import type { Static } from 'typebox';
import * as Type from 'typebox';
import { itemFields, nullableText, pageOf } from './item.ts';

export const INBOX_STATES = ['received', 'handling', 'waiting', 'done', 'dead'] as const;

const handlerSchema = Type.Object({
  handler: Type.String(),
  attempts: Type.Integer(),
  verdict: nullableText,
  error: nullableText,
  nextAt: nullableText,
});

export const inboxItemSchema = Type.Object(
  {
    ...itemFields,
    state: Type.Enum(INBOX_STATES),
    receivedAt: Type.Optional(nullableText),
    capability: Type.Optional(nullableText),
    /** These for full scope. */
    deliveryId: Type.Optional(Type.String()),
    lane: Type.Optional(Type.String()),
    actor: Type.Optional(nullableText),
    /** These of one item alone; what came in for full scope, null past its days. */
    handlers: Type.Optional(Type.Array(handlerSchema)),
    payload: Type.Optional(Type.Unknown()),
  },
  { additionalProperties: true },
);

export const inboxPageSchema = pageOf(inboxItemSchema);

export type InboxItem = Static<typeof inboxItemSchema>;
