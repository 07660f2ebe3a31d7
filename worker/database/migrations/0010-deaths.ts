// At how many deaths of the process an item was in hand: attempts alone do not tell, those that failed are among them.
import type { Migration } from './list.ts';

export const deaths: Migration = {
  id: 10,
  name: '0010-deaths',
  breaking: false,
  statements: [`ALTER TABLE inbox ADD COLUMN deaths INTEGER NOT NULL DEFAULT 0`],
};
