// Alerts of the host, and what was told of them; silences.
import type { Migration } from './list.ts';

export const alerts: Migration = {
  id: 17,
  name: '0017-alerts',
  breaking: false,
  statements: [
    `CREATE TABLE alerts (
      name TEXT NOT NULL, key TEXT NOT NULL, labels TEXT NOT NULL, severity TEXT NOT NULL, phase TEXT NOT NULL, since INTEGER NOT NULL,
      fired_at INTEGER, quiet_since INTEGER, value REAL NOT NULL, told TEXT, notified INTEGER, changes TEXT NOT NULL, is_flapping INTEGER NOT NULL,
      PRIMARY KEY (name, key)
    ) STRICT, WITHOUT ROWID`,
    `CREATE TABLE alert_silences (
      name TEXT NOT NULL, key TEXT NOT NULL, until INTEGER NOT NULL, reason TEXT NOT NULL, actor TEXT NOT NULL, at INTEGER NOT NULL,
      PRIMARY KEY (name, key)
    ) STRICT, WITHOUT ROWID`,
  ],
};
