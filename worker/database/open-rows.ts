// The condition for open rows of the inbox and the outbox.
import { sql } from 'kysely';

/**
 * A row is open until `done_at` is set. The condition does not name the state, so that a change of state leaves the partial indexes alone. It is a
 * literal: SQLite uses a partial index only if it sees the same condition.
 */
export const isOpen = sql<boolean>`done_at IS NULL`;
