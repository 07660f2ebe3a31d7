// Wire format of outbox items. Texts and names of people are included only with full scope.
import type { Static } from 'typebox';
import * as Type from 'typebox';
import { itemFields, nullableText, pageOf } from './item.ts';

export const OUTBOX_STATES = ['pending', 'sending', 'sent', 'waiting', 'unknown', 'dead'] as const;

export const outboxItemSchema = Type.Object(
  {
    ...itemFields,
    state: Type.Enum(OUTBOX_STATES),
    createdAt: Type.Optional(nullableText),
    /** The inbox item that this item answers. */
    from: Type.Optional(nullableText),
    /** The following fields only with full scope. */
    key: Type.Optional(Type.String()),
    conversation: Type.Optional(Type.String()),
    platformMessage: Type.Optional(nullableText),
    /** Only for a single item. Null after the retention period. */
    call: Type.Optional(Type.Unknown()),
  },
  { additionalProperties: true },
);

export const outboxPageSchema = pageOf(outboxItemSchema);

export type OutboxItem = Static<typeof outboxItemSchema>;
