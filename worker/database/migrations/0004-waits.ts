// Marks tasks that wait for a duration: a wall clock that is set back must not delay them.
import type { Migration } from './list.ts';

export const waits: Migration = {
  id: 4,
  name: '0004-waits',
  breaking: false,
  statements: [`ALTER TABLE due ADD COLUMN is_wait INTEGER NOT NULL DEFAULT 0`],
};
