// The states by which pages of inbox and outbox can be filtered. Listed here so that the schemas need not be loaded.
import type { InboxItem } from '../../../../shared/api/inbox.ts';
import type { OutboxItem } from '../../../../shared/api/outbox.ts';

export const INBOX_ITEM_STATES: readonly InboxItem['state'][] = ['received', 'handling', 'waiting', 'done', 'dead'];
export const OUTBOX_ITEM_STATES: readonly OutboxItem['state'][] = [
  'pending',
  'sending',
  'sent',
  'waiting',
  'unknown',
  'dead',
];
