// Migrates a database to this program's schema: one transaction for each migration, or one for all in a new database.
//
//   MIGRATE-1  A killed migration leaves the former schema: its DDL and its row in `migrations` are one transaction.
//   MIGRATE-2  A database with a breaking migration that this program does not know is refused and left unchanged.
//   MIGRATE-3  A database whose migration has another checksum than the known one is refused: another build made it.
import { createHash } from 'node:crypto';
import type { Database } from 'better-sqlite3';
import { SvcError } from '../../shared/svc-error.ts';
import { MIGRATIONS, type Migration } from './migrations/list.ts';

const LEDGER = `CREATE TABLE IF NOT EXISTS migrations (id INTEGER PRIMARY KEY, name TEXT NOT NULL, breaking INTEGER NOT NULL, sha256 TEXT NOT NULL, applied_at INTEGER NOT NULL) STRICT`;

export interface Applied {
  readonly id: number;
  readonly name: string;
  readonly breaking: number;
  readonly sha256: string;
}

/** Stored data waits for a migration, which the caller leaves to another thread. Nothing was changed, nothing is open. */
export class MigrationDue extends Error {}

/** Returns the names of the migrations that ran. Throws SvcError `schema_newer` or `database_corrupt`. */
export function migrate(database: Database, now: number, list: readonly Migration[] = MIGRATIONS): readonly string[] {
  const latest = list.at(-1)?.id ?? 0;
  if (Number(database.pragma('user_version', { simple: true })) === latest && isCurrent(database, list)) return [];
  const applied = readApplied(database);
  refuseNewer(applied, list);
  const done = new Map(applied.map((row) => [row.id, row]));
  const due = list.filter((migration) => !done.has(migration.id));
  const applyAll = (): readonly string[] => due.map((migration) => apply(database, migration, now));
  return applied.length === 0 ? database.transaction(applyAll)() : applyAll();
}

/** Whether stored data waits for a migration, which may take long; false for a new database. */
export function isBehind(database: Database): boolean {
  const version = Number(database.pragma('user_version', { simple: true }));
  return version > 0 && version < (MIGRATIONS.at(-1)?.id ?? 0);
}

function apply(database: Database, migration: Migration, now: number): string {
  database.transaction(() => {
    database.exec(LEDGER);
    for (const text of migration.statements) database.exec(text);
    database
      .prepare('INSERT INTO migrations (id, name, breaking, sha256, applied_at) VALUES (?, ?, ?, ?, ?)')
      .run(migration.id, migration.name, migration.breaking ? 1 : 0, digest(migration), now);
    database.pragma(`user_version = ${migration.id}`);
  })();
  return migration.name;
}

function isCurrent(database: Database, list: readonly Migration[]): boolean {
  const last = list.at(-1);
  const row = database
    .prepare<[], Applied>('SELECT id, name, breaking, sha256 FROM migrations ORDER BY id DESC LIMIT 1')
    .get();
  return last !== undefined && row?.id === last.id && row.sha256 === digest(last);
}

function readApplied(database: Database): readonly Applied[] {
  const exists = database.prepare("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'migrations'").get();
  if (exists === undefined) return [];
  return database.prepare<[], Applied>('SELECT id, name, breaking, sha256 FROM migrations ORDER BY id').all();
}

/** Throws SvcError `schema_newer` or `database_corrupt`. */
export function refuseNewer(applied: readonly Applied[], list: readonly Migration[] = MIGRATIONS): void {
  for (const row of applied) {
    const known = list.find((migration) => migration.id === row.id);
    if (known === undefined && row.breaking === 1) {
      throw new SvcError('schema_newer', `the database has migration ${row.name}, which this svc does not know`, {
        hint: 'start it with the newer svc, or put back a copy of the project folder that was made before the upgrade',
        details: { migration: row.name, known: list.at(-1)?.name },
      });
    }
    if (known !== undefined && digest(known) !== row.sha256) {
      throw new SvcError('database_corrupt', `migration ${row.name} of the database differs from the one in this svc`, {
        hint: 'this database was made by another build; use that build',
      });
    }
  }
}

const digest = (migration: Migration): string =>
  createHash('sha256').update(migration.statements.join(';\n')).digest('hex');
