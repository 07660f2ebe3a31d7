// The first schema; never edited after release. The row types are in worker/database/tables.ts.
import type { Migration } from './list.ts';

export const init: Migration = {
  id: 1,
  name: '0001-init',
  breaking: true,
  statements: [
    `CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID`,
    `CREATE TABLE counters (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID`,
    `INSERT INTO counters (name, value) VALUES ('event', 0), ('event_oldest', 1), ('generation', 0)`,
    `CREATE TABLE event_log (
      seq INTEGER PRIMARY KEY, at INTEGER NOT NULL, type TEXT NOT NULL, version INTEGER NOT NULL, subject TEXT, endpoint TEXT, run_id TEXT,
      actor TEXT, correlation_id TEXT, causation_id TEXT, runtime_id TEXT NOT NULL, generation INTEGER, data TEXT NOT NULL, bytes INTEGER NOT NULL
    ) STRICT`,
    `CREATE TABLE inbox (
      seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, endpoint TEXT NOT NULL, delivery_id TEXT NOT NULL, weak INTEGER NOT NULL DEFAULT 0,
      kind TEXT NOT NULL, lane TEXT NOT NULL, capability TEXT, payload_version INTEGER NOT NULL, body TEXT, sha256 TEXT NOT NULL, bytes INTEGER NOT NULL,
      received_at INTEGER NOT NULL, state TEXT NOT NULL, attempts INTEGER NOT NULL DEFAULT 0, next_at INTEGER, last_error TEXT, done_at INTEGER,
      actor TEXT, correlation_id TEXT, causation_id TEXT,
      UNIQUE (endpoint, delivery_id)
    ) STRICT`,
    `CREATE INDEX inbox_open ON inbox (seq) WHERE state IN ('received', 'handling', 'waiting')`,
    `CREATE INDEX inbox_lane ON inbox (lane, seq) WHERE state IN ('received', 'handling', 'waiting')`,
    `CREATE INDEX inbox_state ON inbox (state, seq)`,
    `CREATE INDEX inbox_done ON inbox (done_at) WHERE done_at IS NOT NULL`,
    `CREATE TABLE handler_runs (
      item_id TEXT NOT NULL, handler TEXT NOT NULL, attempts INTEGER NOT NULL DEFAULT 0, next_at INTEGER, verdict TEXT, error TEXT,
      PRIMARY KEY (item_id, handler)
    ) STRICT, WITHOUT ROWID`,
    `CREATE TABLE once_results (
      item_id TEXT NOT NULL, handler TEXT NOT NULL, step TEXT NOT NULL, state TEXT NOT NULL, value TEXT, at INTEGER NOT NULL,
      PRIMARY KEY (item_id, handler, step)
    ) STRICT, WITHOUT ROWID`,
    `CREATE TABLE cells (
      store TEXT NOT NULL, owner TEXT NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL, revision INTEGER NOT NULL,
      PRIMARY KEY (store, owner, key)
    ) STRICT, WITHOUT ROWID`,
    `CREATE TABLE outbox (
      seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, key TEXT NOT NULL UNIQUE, endpoint TEXT NOT NULL, conversation TEXT NOT NULL,
      kind TEXT NOT NULL, payload_version INTEGER NOT NULL, body TEXT, sha256 TEXT NOT NULL, bytes INTEGER NOT NULL, unsure TEXT NOT NULL,
      state TEXT NOT NULL, attempts INTEGER NOT NULL DEFAULT 0, next_at INTEGER, platform_message TEXT, last_error TEXT, item_id TEXT,
      created_at INTEGER NOT NULL, done_at INTEGER, actor TEXT, correlation_id TEXT, causation_id TEXT
    ) STRICT`,
    `CREATE INDEX outbox_open ON outbox (seq) WHERE state IN ('pending', 'sending', 'waiting')`,
    `CREATE INDEX outbox_state ON outbox (state, seq)`,
    `CREATE INDEX outbox_conversation ON outbox (endpoint, conversation, seq)`,
    `CREATE INDEX outbox_done ON outbox (done_at) WHERE done_at IS NOT NULL`,
    `CREATE INDEX inbox_endpoint ON inbox (endpoint, seq)`,
    `CREATE TABLE buttons (
      token TEXT PRIMARY KEY, endpoint TEXT NOT NULL, conversation TEXT NOT NULL, action TEXT NOT NULL, data TEXT NOT NULL, label TEXT NOT NULL,
      menu INTEGER, created_at INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID`,
    `CREATE INDEX buttons_menu ON buttons (endpoint, conversation, menu) WHERE menu IS NOT NULL`,
    `CREATE TABLE dialogs (
      owner TEXT PRIMARY KEY, capability TEXT NOT NULL, data TEXT NOT NULL, skipped TEXT NOT NULL, asked TEXT NOT NULL, expires_at INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID`,
    `CREATE TABLE due (seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, kind TEXT NOT NULL, at INTEGER NOT NULL, capability TEXT, lane TEXT, data TEXT NOT NULL) STRICT`,
    `CREATE INDEX due_at ON due (at)`,
    `CREATE TABLE endpoints (endpoint TEXT PRIMARY KEY, enabled INTEGER, cursor TEXT, revision INTEGER NOT NULL DEFAULT 0) STRICT, WITHOUT ROWID`,
    `CREATE TABLE starts (
      runtime_id TEXT PRIMARY KEY, at INTEGER NOT NULL, pid INTEGER NOT NULL, owner TEXT NOT NULL, version TEXT NOT NULL, node TEXT NOT NULL,
      previous_end TEXT NOT NULL, previous_code INTEGER, previous_signal TEXT, previous_detail TEXT
    ) STRICT, WITHOUT ROWID`,
    `CREATE TABLE idempotency (
      key TEXT NOT NULL, route TEXT NOT NULL, request_digest TEXT NOT NULL, status INTEGER, body TEXT, at INTEGER NOT NULL, PRIMARY KEY (key, route)
    ) STRICT, WITHOUT ROWID`,
    `CREATE TABLE subscriptions (capability TEXT PRIMARY KEY, position INTEGER NOT NULL) STRICT, WITHOUT ROWID`,
    `CREATE TABLE files (id TEXT PRIMARY KEY, name TEXT NOT NULL, mime TEXT NOT NULL, bytes INTEGER NOT NULL, created_at INTEGER NOT NULL) STRICT, WITHOUT ROWID`,
  ],
};
