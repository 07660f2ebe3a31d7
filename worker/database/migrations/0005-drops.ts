// Which dead sends an operator has dropped. It was told by the beginning of the error, which a platform may write as well.
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
