// Outbox items on the wire. Texts and names of people are in them for full scope only.
import type { Static } from 'typebox';
import * as Type from 'typebox';
import { itemFields, nullableText, pageOf } from './item.ts';

export const OUTBOX_STATES = ['pending', 'sending', 'sent', 'waiting', 'unknown', 'dead'] as const;

export const outboxItemSchema = Type.Object(
  {
    ...itemFields,
    state: Type.Enum(OUTBOX_STATES),
    createdAt: Type.Optional(nullableText),
    /** The item of the inbox that it answers. */
    from: Type.Optional(nullableText),
    /** These for full scope. */
    key: Type.Optional(Type.String()),
    conversation: Type.Optional(Type.String()),
    platformMessage: Type.Optional(nullableText),
    /** Of one item alone; null past its days. */
    call: Type.Optional(Type.Unknown()),
  },
  { additionalProperties: true },
);

export const outboxPageSchema = pageOf(outboxItemSchema);

export type OutboxItem = Static<typeof outboxItemSchema>;
