// Open rows are found by an empty `done_at`, no longer by their state. A partial index is rewritten whenever a column of its WHERE changes. An item
// changes its state twice before it is done.
import type { Migration } from './list.ts';

export const openRows: Migration = {
  id: 6,
  name: '0006-open-rows',
  breaking: false,
  statements: [
    `DROP INDEX inbox_open`,
    `DROP INDEX inbox_lane`,
    `DROP INDEX outbox_open`,
    `CREATE INDEX inbox_open ON inbox (seq) WHERE done_at IS NULL`,
    `CREATE INDEX inbox_lane ON inbox (lane, seq) WHERE done_at IS NULL`,
    `CREATE INDEX outbox_open ON outbox (seq) WHERE done_at IS NULL`,
  ],
};
