// What was restored, and when. The next start tells it as an event.
import type { Migration } from './list.ts';

export const restores: Migration = {
  id: 15,
  name: '0015-restores',
  breaking: false,
  statements: [
    `CREATE TABLE restores (
      replaced TEXT PRIMARY KEY, at INTEGER NOT NULL, purpose TEXT NOT NULL, source TEXT NOT NULL, source_id TEXT NOT NULL,
      lost INTEGER NOT NULL, carried INTEGER NOT NULL, is_told INTEGER NOT NULL DEFAULT 0
    ) STRICT, WITHOUT ROWID`,
  ],
};
