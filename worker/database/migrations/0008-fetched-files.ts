// Which stored file is the copy of one that lies on a platform, and which files are nothing but such copies: those go with the texts of messages.
// A file is such a copy where `fetched_at` is `created_at`: an older version that saves the same bytes moves the latter alone.
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
