// Marks dead sends that an operator has dropped. Before, the beginning of the error told them, which a platform may write too.
import type { Migration } from './list.ts';

export const drops: Migration = {
  id: 5,
  name: '0005-drops',
  breaking: false,
  statements: [
    `ALTER TABLE outbox ADD COLUMN is_dropped INTEGER NOT NULL DEFAULT 0`,
    `UPDATE outbox SET is_dropped = 1 WHERE state = 'dead' AND last_error LIKE 'dropped: %'`,
  ],
};
