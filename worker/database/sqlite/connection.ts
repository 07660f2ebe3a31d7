// How a connection to the project's SQLite file is opened. Nothing else opens a `*.sqlite` file: a stray close of the same
// file would drop the POSIX locks of all connections of this process.
import { refuseLostHistory } from '../../../shared/files/lost-history.ts';
import { type Database, Sqlite } from '../../../shared/sqlite.ts';

/** Another program has the lock only by mistake; readiness must say so within two seconds. */
const WRITER_BUSY_MS = 800;
/** Readers wait in the main thread, and WAL hardly ever makes them wait. */
const READER_BUSY_MS = 200;

/** A page of SQLite's usual 4 KiB holds one delivery of 2 KB, this one three; and the log takes two calls for each page that a group changes. */
const PAGE_BYTES = 8_192;

/** The connection that writes: WAL, synced at each commit, keys and triggers enforced. */
export function openWritable(file: string, busyMs = WRITER_BUSY_MS): Database {
  refuseLostHistory(file);
  const database = new Sqlite(file, { timeout: busyMs });
  try {
    database.pragma(`page_size = ${PAGE_BYTES}`); // of a new file; another one stays as it is
    database.pragma('journal_mode = WAL');
    database.pragma('synchronous = FULL');
    database.pragma('foreign_keys = ON');
    database.pragma('recursive_triggers = ON');
    database.pragma('wal_autocheckpoint = 0'); // see checkpoint.ts
    database.pragma('trusted_schema = OFF');
    database.pragma('wal_checkpoint(NOOP)'); // where SQLite could open it only for reading, it says so here
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** The connection that writes, while nobody else has the file open: throws SQLITE_BUSY where somebody has. */
export function openAlone(file: string): Database {
  refuseLostHistory(file);
  const database = new Sqlite(file, { timeout: 0, fileMustExist: true });
  try {
    database.pragma('locking_mode = EXCLUSIVE');
    database.pragma('synchronous = FULL');
    database.pragma('wal_autocheckpoint = 0');
    database.pragma('page_count'); // takes it
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** A connection that cannot write. */
export function openReadOnly(file: string, busyMs = READER_BUSY_MS): Database {
  refuseLostHistory(file);
  const database = new Sqlite(file, { readonly: true, fileMustExist: true, timeout: busyMs });
  database.pragma('query_only = ON');
  return database;
}

/** The SQLite result code of an error, such as `SQLITE_FULL`; undefined when it is another error. */
export function sqliteCode(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' && code.startsWith('SQLITE_') ? code : undefined;
}
