// The journal of the Workroom with its hash chain, and what is derived from it: head, catalog, dependencies.
import type { Migration } from './list.ts';

export const workroom: Migration = {
  id: 13,
  name: '0013-workroom',
  breaking: false,
  statements: [
    `CREATE TABLE workroom_events (
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
    `CREATE TRIGGER workroom_events_kept BEFORE DELETE ON workroom_events
      BEGIN SELECT RAISE(ABORT, 'the journal of the Workroom only grows'); END`,
    `CREATE TRIGGER workroom_events_unchanged
      BEFORE UPDATE OF seq, id, stream, version, kind, at, actor, cause, data, digest, hash ON workroom_events
      BEGIN SELECT RAISE(ABORT, 'an event of the journal does not change'); END`,
    'CREATE TABLE workroom_head (id INTEGER PRIMARY KEY CHECK (id = 1), seq INTEGER NOT NULL, hash TEXT NOT NULL) STRICT',
    "INSERT INTO workroom_head (id, seq, hash) VALUES (1, 0, '')",
    `CREATE TABLE workroom_catalog (
      stream TEXT PRIMARY KEY,
      kind TEXT NOT NULL,
      board TEXT,
      version INTEGER NOT NULL,
      applied_seq INTEGER NOT NULL,
      status TEXT,
      state TEXT,
      assignee TEXT,
      next_at INTEGER,
      last_item INTEGER NOT NULL DEFAULT 0,
      quarantined INTEGER NOT NULL DEFAULT 0,
      updated_at INTEGER NOT NULL,
      data TEXT NOT NULL
    ) STRICT, WITHOUT ROWID`,
    'CREATE INDEX workroom_catalog_state ON workroom_catalog (board, state)',
    'CREATE INDEX workroom_catalog_assignee ON workroom_catalog (assignee, state) WHERE assignee IS NOT NULL',
    `CREATE TABLE workroom_needs (
      item TEXT NOT NULL, blocker TEXT NOT NULL, needs TEXT NOT NULL, PRIMARY KEY (item, blocker)
    ) STRICT, WITHOUT ROWID`,
    'CREATE INDEX workroom_needs_needs ON workroom_needs (needs)',
  ],
};
