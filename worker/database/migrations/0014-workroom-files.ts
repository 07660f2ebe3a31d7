// The journal of the Workroom in files: what is not in a file yet, and where each event of a file stands.
import type { Migration } from './list.ts';

export const workroomFiles: Migration = {
  id: 14,
  name: '0014-workroom-files',
  breaking: false,
  statements: [
    `CREATE TABLE workroom_spool (
      seq INTEGER PRIMARY KEY,
      id TEXT NOT NULL UNIQUE,
      stream TEXT NOT NULL,
      version INTEGER NOT NULL,
      kind TEXT NOT NULL,
      at INTEGER NOT NULL,
      actor TEXT NOT NULL,
      cause TEXT,
      data TEXT NOT NULL,
      texts TEXT,
      digest TEXT NOT NULL,
      hash TEXT NOT NULL,
      UNIQUE (stream, version)
    ) STRICT`,
    `CREATE TABLE workroom_places (
      seq INTEGER PRIMARY KEY,
      id TEXT NOT NULL UNIQUE,
      stream TEXT NOT NULL,
      version INTEGER NOT NULL,
      segment INTEGER NOT NULL,
      offset INTEGER NOT NULL,
      bytes INTEGER NOT NULL
    ) STRICT`,
    'CREATE INDEX workroom_places_stream ON workroom_places (stream, seq)',
  ],
};
