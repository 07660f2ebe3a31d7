// Acceptances: what was found when a person accepted the running host.
import type { Migration } from './list.ts';

export const acceptances: Migration = {
  id: 16,
  name: '0016-acceptances',
  breaking: false,
  statements: [
    `CREATE TABLE acceptances (
      id INTEGER PRIMARY KEY, at INTEGER NOT NULL, actor TEXT NOT NULL, release TEXT, facts TEXT NOT NULL, rows TEXT NOT NULL
    ) STRICT`,
  ],
};
