// Reads what a manifest says of the database from the finished copy, and makes the copy one file without a WAL.

import type { SecretRegistry } from '../../../shared/log/redaction.ts';
import type { Manifest } from '../../../shared/recovery/manifest.ts';
import { type Database, Sqlite } from '../../../shared/sqlite.ts';
import { SvcError } from '../../../shared/svc-error.ts';

export interface DatabaseFacts
  extends Pick<Manifest, 'project' | 'schema' | 'events' | 'generation' | 'journal' | 'catalog' | 'open'> {
  readonly rows: Readonly<Record<string, number>>;
  /** Values that hold a secret. People may have written them, so they are counted alone. */
  readonly secretHits: number;
  /** Ids of the stored files. */
  readonly files: readonly string[];
}

/** Throws `database_corrupt`. */
export function examineDatabase(file: string, secrets: SecretRegistry): DatabaseFacts {
  const database = new Sqlite(file, { fileMustExist: true });
  try {
    database.pragma('synchronous = FULL');
    database.pragma('journal_mode = DELETE'); // one file; a start turns the WAL on again
    const [fault] = database.pragma('quick_check(1)') as readonly { readonly quick_check: string }[];
    if (fault?.quick_check !== 'ok')
      throw new SvcError('database_corrupt', `the database is damaged: ${fault?.quick_check ?? 'no answer'}`, {
        hint: 'no checkpoint was made; `svc doctor` checks the database, the last good checkpoint is in `svc checkpoint list`',
      });
    const tables = tablesOf(database);
    const rows = Object.fromEntries(
      tables.map((table) => [table, countOf(database, `SELECT count(*) AS n FROM "${table}"`)]),
    );
    return { ...factsOf(database, new Set(tables)), rows, secretHits: hitsIn(database, tables, secrets) };
  } finally {
    database.close();
  }
}

const tablesOf = (database: Database): readonly string[] =>
  database
    .prepare<[], { name: string }>(
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name",
    )
    .all()
    .map(({ name }) => name);

const countOf = (database: Database, query: string): number =>
  Number(database.prepare<[], { n: number | null }>(query).get()?.n ?? 0);

type Facts = Omit<DatabaseFacts, 'rows' | 'secretHits'>;

function factsOf(database: Database, tables: ReadonlySet<string>): Facts {
  const count = (table: string, query: string): number => (tables.has(table) ? countOf(database, query) : 0);
  const counter = (name: string): number => count('counters', `SELECT value AS n FROM counters WHERE name = '${name}'`);
  const meta = (key: string): string =>
    database.prepare<[string], { value: string }>('SELECT value FROM meta WHERE key = ?').get(key)?.value ?? '';
  const head = tables.has('workroom_head')
    ? database.prepare<[], { seq: number; hash: string }>('SELECT seq, hash FROM workroom_head WHERE id = 1').get()
    : undefined;
  const migrations = database
    .prepare<[], { id: number; sha256: string; breaking: number }>(
      'SELECT id, sha256, breaking FROM migrations ORDER BY id',
    )
    .all();
  return {
    project: meta('project_id'),
    schema: { migrations: migrations.map(({ id, sha256, breaking }) => ({ id, sha256, breaking: breaking === 1 })) },
    events: { epoch: meta('epoch'), head: counter('event'), oldest: counter('event_oldest') || 1 },
    generation: counter('generation'),
    journal:
      head === undefined || head.seq === 0
        ? null
        : { store: meta('workroom_store') || 'database', seq: head.seq, hash: head.hash },
    catalog:
      head === undefined || head.seq === 0
        ? null
        : { appliedSeq: count('workroom_catalog', 'SELECT max(applied_seq) AS n FROM workroom_catalog') },
    open: {
      inbox: count('inbox', 'SELECT count(*) AS n FROM inbox WHERE done_at IS NULL'),
      outbox: count('outbox', 'SELECT count(*) AS n FROM outbox WHERE done_at IS NULL'),
    },
    files: tables.has('files')
      ? database
          .prepare<[], { id: string }>('SELECT id FROM files ORDER BY id')
          .all()
          .map(({ id }) => id)
      : [],
  };
}

function hitsIn(database: Database, tables: readonly string[], secrets: SecretRegistry): number {
  if (secrets.values.size === 0) return 0;
  let hits = 0;
  for (const table of tables)
    for (const row of database.prepare(`SELECT * FROM "${table}"`).raw().iterate() as Iterable<readonly unknown[]>)
      hits += row.filter((value) => holdsSecret(value, secrets)).length;
  return hits;
}

function holdsSecret(value: unknown, secrets: SecretRegistry): boolean {
  const text = Buffer.isBuffer(value) ? value.toString('latin1') : value;
  return typeof text === 'string' && text.length > 5 && secrets.find(text).length > 0;
}
