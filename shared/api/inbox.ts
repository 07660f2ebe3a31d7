// Wire format of inbox items. Texts and names of people are included only with full scope.
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
    /** The handler that made the item dead. */
    failedHandler: Type.Optional(nullableText),
    /** The following fields only with full scope. */
    deliveryId: Type.Optional(Type.String()),
    lane: Type.Optional(Type.String()),
    actor: Type.Optional(nullableText),
    /** The following fields only for a single item. `payload` requires full scope and is null after the retention period. */
    handlers: Type.Optional(Type.Array(handlerSchema)),
    payload: Type.Optional(Type.Unknown()),
  },
  { additionalProperties: true },
);

export const inboxPageSchema = pageOf(inboxItemSchema);

export type InboxItem = Static<typeof inboxItemSchema>;
