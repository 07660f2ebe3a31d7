// Reads what a manifest says of the database.
import type { SecretRegistry } from '../../../shared/log/redaction.ts';
import type { Manifest } from '../../../shared/recovery/manifest.ts';
import { type Database, Sqlite } from '../../../shared/sqlite.ts';
import { secretsIn } from './find-secrets.ts';

export interface DatabaseFacts
  extends Pick<Manifest, 'project' | 'schema' | 'events' | 'generation' | 'journal' | 'catalog' | 'open'> {
  readonly rows: Readonly<Record<string, number>>;
  /** Values that hold a secret. People may have written them, so they are counted alone. */
  readonly secretHits: number;
  /** Ids of the stored files. */
  readonly files: readonly string[];
}

/** A database that nobody writes. */
export function examineDatabase(file: string, secrets: SecretRegistry): DatabaseFacts {
  const database = new Sqlite(file, { fileMustExist: true });
  try {
    return examine(database, secrets);
  } finally {
    database.close();
  }
}

/** As the connection sees it. Where others write, it has a read transaction open. `look` is called now and then. */
export function examine(database: Database, secrets: SecretRegistry, look: () => void = () => {}): DatabaseFacts {
  const tables = tablesOf(database);
  const rows = Object.fromEntries(
    tables.map((table) => {
      look();
      return [table, countOf(database, `SELECT count(*) AS n FROM "${table}"`)];
    }),
  );
  return { ...factsOf(database, new Set(tables)), rows, secretHits: secretsIn(database, { tables, secrets, look }) };
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
