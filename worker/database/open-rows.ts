// What is open, in the inbox and in the outbox.
import { sql } from 'kysely';

/**
 * What has ended has its time. Asked for so, and not by its states, the partial indexes stay as they are when an open row changes its state.
 * As a literal: they are used only when SQLite sees it.
 */
export const isOpen = sql<boolean>`done_at IS NULL`;
