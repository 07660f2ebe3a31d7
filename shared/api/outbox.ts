// Outbox items on the wire. Texts and names of people are in them for full scope only.
import type { Static } from 'typebox';
import * as Type from 'typebox';
import { pageOf } from './item.ts';

export const OUTBOX_STATES = ['pending', 'sending', 'sent', 'waiting', 'unknown', 'dead'] as const;

export const outboxItemSchema = Type.Object(
  { id: Type.String(), state: Type.Enum(OUTBOX_STATES) },
  { additionalProperties: true },
);

export const outboxPageSchema = pageOf(outboxItemSchema);

export type OutboxItem = Static<typeof outboxItemSchema>;
export type OutboxPage = Static<typeof outboxPageSchema>;
