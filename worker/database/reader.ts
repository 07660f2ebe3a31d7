// Reads on a read-only connection: short keyed reads, and scans in pages. The next read reopens a failed connection.
import type { Database, Statement as SqliteStatement } from 'better-sqlite3';
import { SvcError } from '../../shared/svc-error.ts';
import { sqliteCode } from './sqlite/connection.ts';
import type { Reader } from './unit.ts';

type Query<T> = {
  compile(): { readonly sql: string; readonly parameters: readonly unknown[] };
  execute(): Promise<T[]>;
};

/** The error of a read after the WAL was removed. The WAL that is open here is empty, while that of the writer has the page. */
export const OTHER_LOG = 'SQLITE_IOERR_SHORT_READ';

export class SqliteReader implements Reader {
  readonly #open: () => Database;
  readonly #statements = new Map<string, SqliteStatement>();
  #database: Database | undefined;
  #hasEnded = false;

  constructor(open: () => Database) {
    this.#open = open;
  }

  async all<T>(query: Query<T>): Promise<T[]> {
    const { sql, parameters } = query.compile();
    return this.run<T>(sql, parameters);
  }

  async first<T>(query: Query<T>): Promise<T | undefined> {
    return (await this.all(query))[0];
  }

  /** For compiled SQL. Throws SvcError `storage_unavailable`, and `modules_unusable` if SQLite cannot be loaded. */
  run<T>(text: string, parameters: readonly unknown[] = []): T[] {
    if (this.#hasEnded) throw new SvcError('storage_unavailable', 'the database is closed: the worker is stopping');
    const wasOpen = this.#database !== undefined;
    try {
      return this.#read<T>(text, parameters);
    } catch (error) {
      this.close();
      if (error instanceof SvcError && error.code === 'modules_unusable') throw error;
      const code = sqliteCode(error) ?? 'error';
      if (wasOpen && code === OTHER_LOG) return this.run<T>(text, parameters);
      throw new SvcError('storage_unavailable', `the database cannot be read (${code})`, { cause: error });
    }
  }

  #read<T>(text: string, parameters: readonly unknown[]): T[] {
    this.#database ??= this.#open();
    let prepared = this.#statements.get(text);
    if (prepared === undefined) {
      prepared = this.#database.prepare(text);
      this.#statements.set(text, prepared);
    }
    return prepared.all(...parameters) as T[];
  }

  /** Closes for good: no read reopens the connection. */
  end(): void {
    this.#hasEnded = true;
    this.close();
  }

  close(): void {
    this.#statements.clear();
    this.#database?.close();
    this.#database = undefined;
  }
}
