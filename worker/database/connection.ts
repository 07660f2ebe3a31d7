// How a connection to the project's SQLite file is opened. Nothing else opens a `*.sqlite` file: a stray close of the same
// file would drop the POSIX locks of all connections of this process.
import Sqlite, { type Database } from 'better-sqlite3';

const BUSY_TIMEOUT_MS = 5_000;

/** The connection that writes: WAL, synced at each commit, keys and triggers enforced. */
export function openWritable(file: string): Database {
  const database = new Sqlite(file, { timeout: BUSY_TIMEOUT_MS });
  try {
    database.pragma('journal_mode = WAL');
    database.pragma('synchronous = FULL');
    database.pragma('foreign_keys = ON');
    database.pragma('recursive_triggers = ON');
    database.pragma('wal_autocheckpoint = 2000');
    database.pragma('trusted_schema = OFF');
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** A connection that cannot write. */
export function openReadOnly(file: string): Database {
  const database = new Sqlite(file, { readonly: true, fileMustExist: true, timeout: BUSY_TIMEOUT_MS });
  database.pragma('query_only = ON');
  return database;
}

/** The SQLite result code of an error, such as `SQLITE_FULL`; undefined when it is another error. */
export function sqliteCode(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' && code.startsWith('SQLITE_') ? code : undefined;
}
