// Inbox items on the wire. Texts and names of people are in them for full scope only.
import type { Static } from 'typebox';
import * as Type from 'typebox';
import { pageOf } from './item.ts';

export const INBOX_STATES = ['received', 'handling', 'waiting', 'done', 'dead'] as const;

export const inboxItemSchema = Type.Object(
  { id: Type.String(), state: Type.Enum(INBOX_STATES) },
  { additionalProperties: true },
);

export const inboxPageSchema = pageOf(inboxItemSchema);

export type InboxItem = Static<typeof inboxItemSchema>;
export type InboxPage = Static<typeof inboxPageSchema>;
