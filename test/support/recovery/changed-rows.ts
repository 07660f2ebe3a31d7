// Writes and reads rows of a stopped project's database, as SQL.
import { type Database, Sqlite } from '../../../shared/sqlite.ts';

export type Values = Readonly<Record<string, unknown>>;

/** Columns that an item has to have. */
export const item = (id: string, more: Values = {}): Values => ({
  id,
  endpoint: 'root/echo:echo',
  delivery_id: `d-${id}`,
  kind: 'arrival',
  lane: 'lane',
  payload_version: 1,
  body: JSON.stringify({ text: id }),
  sha256: `sha-${id}`,
  bytes: 10,
  received_at: 1,
  state: 'received',
  ...more,
});

export const send = (id: string, more: Values = {}): Values => ({
  id,
  key: `k-${id}`,
  endpoint: 'root/echo:echo',
  conversation: 'c',
  kind: 'post',
  payload_version: 1,
  body: '{}',
  sha256: `sha-${id}`,
  bytes: 2,
  unsure: 'again',
  state: 'pending',
  created_at: 1,
  ...more,
});

export const due = (id: string, kind: string, at: number): Values => ({ id, kind, at, data: '{}' });

export function insert(database: Database, table: string, ...rows: readonly Values[]): void {
  for (const row of rows) {
    const names = Object.keys(row);
    const text = `INSERT INTO ${table} (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`;
    database.prepare(text).run(...Object.values(row));
  }
}

export function withDatabase<T>(file: string, work: (database: Database) => T): T {
  const database = new Sqlite(file);
  try {
    return work(database);
  } finally {
    database.close();
  }
}

/** Rows of a query, as `[a, b]`. */
export const rowsOf = (file: string, query: string): readonly unknown[] =>
  withDatabase(file, (database) => database.prepare(query).raw().all());
