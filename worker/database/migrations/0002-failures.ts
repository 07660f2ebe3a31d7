// How many attempts ended with a result: backoff counts those alone, the bound of attempts counts the ones that a crash cut too.
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
