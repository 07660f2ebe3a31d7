// Names the stored copies of files on platforms. Copies are removed with the texts of messages. A file is only a copy if `fetched_at` equals
// `created_at`. An older version that saves the same bytes changes `created_at` alone.
import type { Migration } from './list.ts';

export const fetchedFiles: Migration = {
  id: 8,
  name: '0008-fetched-files',
  breaking: false,
  statements: [
    `CREATE TABLE fetched_files (source TEXT PRIMARY KEY, id TEXT NOT NULL) STRICT, WITHOUT ROWID`,
    `CREATE INDEX fetched_files_id ON fetched_files (id)`,
    `ALTER TABLE files ADD COLUMN fetched_at INTEGER`,
  ],
};
