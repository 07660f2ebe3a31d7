// Reads the database beside a running host, for checks that ask for what it holds.
import { existsSync } from 'node:fs';
import { refuseLostHistory } from '../../../shared/files/lost-history.ts';
import type { Database } from '../../../shared/sqlite.ts';
import { isInUse } from './database-checks.ts';

/** Undefined: there is no database yet. Throws if it cannot be read; `database.integrity` and `database.schema` say why. */
export async function readDatabase<T>(filename: string, read: (database: Database) => T): Promise<T | undefined> {
  if (!existsSync(filename)) return undefined;
  refuseLostHistory(filename);
  const { Sqlite } = await import('../../../shared/sqlite.ts');
  const database = new Sqlite(filename, { readonly: isInUse(filename), fileMustExist: true });
  try {
    return read(database);
  } finally {
    database.close();
  }
}
