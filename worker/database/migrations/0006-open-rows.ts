// What is open is found by having no end, no longer by its state: an index of part of a table is rewritten whenever a column that its WHERE
// names changes, and between coming in and being done an item changes its state twice.
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
