// Counts deaths of the process while it ran an item. The number of attempts does not tell them: it includes failed attempts.
import type { Migration } from './list.ts';

export const deaths: Migration = {
  id: 10,
  name: '0010-deaths',
  breaking: false,
  statements: [`ALTER TABLE inbox ADD COLUMN deaths INTEGER NOT NULL DEFAULT 0`],
};
