// Counts attempts that ended with a result. Backoff counts those alone; the attempt limit also counts attempts that a crash cut.
import type { Migration } from './list.ts';

export const failures: Migration = {
  id: 2,
  name: '0002-failures',
  breaking: false,
  statements: [
    `ALTER TABLE outbox ADD COLUMN failures INTEGER NOT NULL DEFAULT 0`,
    `ALTER TABLE handler_runs ADD COLUMN failures INTEGER NOT NULL DEFAULT 0`,
  ],
};
