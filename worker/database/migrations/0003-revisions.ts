// Counts changes of operators, so that no revision comes back after a replay. Stores the headers of answers under an Idempotency-Key.
import type { Migration } from './list.ts';

export const revisions: Migration = {
  id: 3,
  name: '0003-revisions',
  breaking: false,
  statements: [
    `ALTER TABLE inbox ADD COLUMN operator_changes INTEGER NOT NULL DEFAULT 0`,
    `ALTER TABLE outbox ADD COLUMN operator_changes INTEGER NOT NULL DEFAULT 0`,
    `ALTER TABLE idempotency ADD COLUMN headers TEXT`,
  ],
};
