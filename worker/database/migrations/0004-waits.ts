// Which tasks are so long from when they were scheduled: they are no later when the wall clock is set back.
import type { Migration } from './list.ts';

export const waits: Migration = {
  id: 4,
  name: '0004-waits',
  breaking: false,
  statements: [`ALTER TABLE due ADD COLUMN is_wait INTEGER NOT NULL DEFAULT 0`],
};
