// Opens connections to the project's SQLite file. Closing any descriptor of the file drops the POSIX locks of all connections of this process.
import { hash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { refuseLostHistory } from '../../../shared/files/lost-history.ts';
import { type Database, Sqlite } from '../../../shared/sqlite.ts';
import { SvcError } from '../../../shared/svc-error.ts';
import { logOf } from './wal/log-file.ts';

/** Other programs have the lock only by mistake. Readiness must report that within two seconds. */
const WRITER_BUSY_MS = 800;
/** Readers wait in the main thread. In WAL mode they hardly ever have to. */
const READER_BUSY_MS = 200;

/**
 * A page of 4 KiB, SQLite's default, holds one delivery of 2 KB; a page of 8 KiB holds three. The WAL takes two system calls for each changed page.
 */
const PAGE_BYTES = 8_192;

/** What lies behind it SQLite reads by calls. */
const LARGEST_MAP_BYTES = 2 ** 31 - 65_536;
/** SQLite cuts a longer WAL down when it restarts it. A copy of the database lets the WAL grow far beyond its usual 16 MB. */
const LONGEST_EMPTY_LOG_BYTES = 64 * 1_048_576;

/** SHA-256 of a text in lower-case hex, for statements that continue a hash chain. PostgreSQL has a function of its own. */
const sha256 = (text: unknown): string => hash('sha256', String(text), 'hex');

/**
 * The writing connection: WAL, synced at each commit, foreign keys and triggers enforced. `content` is that of a database in memory. `isKnown`: the file
 * was there a moment ago. It is not made anew: SQLite would remove the WAL beside an empty file, with what only the WAL has.
 */
export function openWritable(
  file: string,
  busyMs = WRITER_BUSY_MS,
  { content, isKnown = false }: { readonly content?: Buffer | undefined; readonly isKnown?: boolean } = {},
): Database {
  refuseLostHistory(file);
  const database = new Sqlite(content ?? file, { timeout: busyMs, fileMustExist: isKnown && content === undefined });
  try {
    database.pragma(`page_size = ${PAGE_BYTES}`); // only for a new database
    database.pragma('journal_mode = WAL');
    database.pragma('synchronous = FULL');
    database.pragma('foreign_keys = ON');
    database.pragma('recursive_triggers = ON');
    database.pragma('wal_autocheckpoint = 0'); // svc starts checkpoints itself, to see their errors
    database.pragma(`journal_size_limit = ${LONGEST_EMPTY_LOG_BYTES}`);
    database.pragma('trusted_schema = OFF');
    database.pragma('secure_delete = ON'); // erased words stay neither in free bytes of a page nor in pages that became free
    database.pragma('wal_checkpoint(NOOP)'); // throws if SQLite could open the file only for reading
    database.function('svc_sha256', { deterministic: true }, sha256);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** The writing connection while nobody else has the file open. Throws SQLITE_BUSY if another connection has. */
export function openAlone(file: string): Database {
  refuseLostHistory(file);
  const database = new Sqlite(file, { timeout: 0, fileMustExist: true });
  try {
    database.pragma('locking_mode = EXCLUSIVE');
    database.pragma('synchronous = FULL');
    database.pragma('wal_autocheckpoint = 0');
    database.pragma('page_count'); // takes the lock
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** A read-only connection. */
export function openReadOnly(file: string, busyMs = READER_BUSY_MS): Database {
  refuseLostHistory(file);
  const database = new Sqlite(file, { readonly: true, fileMustExist: true, timeout: busyMs });
  database.pragma('query_only = ON');
  return database;
}

/**
 * A connection that reads the whole database of a running or a stopped host. Beside a database without a WAL a read-only connection would leave an
 * empty one behind.
 */
export function openToCopy(file: string): Database {
  if (existsSync(logOf(file))) return openReadOnly(file);
  refuseLostHistory(file);
  const database = new Sqlite(file, { fileMustExist: true, timeout: READER_BUSY_MS });
  database.pragma('query_only = ON');
  return database;
}

/**
 * Reads pages where the kernel has them, not by a call for each: half the time. A page that the disk cannot read ends the process then, without an error:
 * it is for processes whose end is told as a fault of the disk.
 */
export function readingAll(database: Database): Database {
  database.pragma(`mmap_size = ${LARGEST_MAP_BYTES}`);
  return database;
}

/**
 * A copy that nobody else has open, as one file: it gets no WAL, and what the one beside it holds is brought over. `frames`: so many it must hold. Throws
 * `database_corrupt` if it does not.
 */
export function openCopy(file: string, frames = 0): Database {
  const database = new Sqlite(file, { fileMustExist: true });
  try {
    database.pragma('user_version'); // SQLite reads the WAL now
    const [state] =
      frames === 0 ? [] : (database.pragma('wal_checkpoint(NOOP)') as readonly { readonly log: number }[]);
    if (state !== undefined && state.log !== frames)
      throw new SvcError(
        'database_corrupt',
        `the WAL of the copy has ${state.log} of ${frames} frames that are whole`,
        {
          hint: 'check the disk (dmesg); `svc doctor` checks the database',
        },
      );
    database.pragma('journal_mode = DELETE');
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** SQLite has met pages that are no database, or not whole. */
export const isDamage = (error: unknown): boolean => /^SQLITE_(CORRUPT|NOTADB)/.test(sqliteCode(error) ?? '');

/** The SQLite result code of an error, such as `SQLITE_FULL`; undefined for any other error. */
export function sqliteCode(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' && code.startsWith('SQLITE_') ? code : undefined;
}
