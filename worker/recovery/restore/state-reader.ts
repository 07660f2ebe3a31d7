// Reads rows of a database of any schema that this svc knows: the one that is replaced may be older or newer than the one that comes.
import type { Database } from '../../../shared/sqlite.ts';
import type { Row } from './carry.ts';

export interface State {
  has(table: string): boolean;
  columns(table: string): ReadonlySet<string>;
  /** Rows in their order; none where there is no such table. */
  all(table: string, where?: string, ...parameters: readonly unknown[]): readonly Row[];
  /** As `all`, one after the other: for tables that may be large. Nothing else runs on this connection meanwhile but reads. */
  each(table: string): Iterable<Row>;
  query(text: string): readonly Row[];
  readonly database: Database;
}

const PAGE = 500;

export function stateOf(database: Database): State {
  const known = new Map<string, ReadonlySet<string>>();
  const columns = (table: string): ReadonlySet<string> => {
    const found =
      known.get(table) ?? new Set((database.pragma(`table_info(${table})`) as Row[]).map(({ name }) => String(name)));
    known.set(table, found);
    return found;
  };
  const has = (table: string): boolean => columns(table).size > 0;
  const orderOf = (table: string): string => (columns(table).has('seq') ? 'ORDER BY seq' : '');
  return {
    database,
    has,
    columns,
    all(table, where = 'TRUE', ...parameters) {
      if (!has(table)) return [];
      return database.prepare(`SELECT * FROM ${table} WHERE ${where} ${orderOf(table)}`).all(...parameters) as Row[];
    },
    *each(table) {
      if (!has(table)) return;
      if (!columns(table).has('seq')) {
        yield* database.prepare(`SELECT * FROM ${table}`).all() as Row[];
        return;
      }
      const page = database.prepare(`SELECT * FROM ${table} WHERE seq > ? ORDER BY seq LIMIT ${PAGE}`);
      for (let after: unknown = -1; ; ) {
        const rows = page.all(after) as Row[];
        yield* rows;
        if (rows.length < PAGE) return;
        after = rows.at(-1)?.['seq'];
      }
    },
    query: (text) => database.prepare(text).all() as Row[],
  };
}

/** A keyed read that is compiled once. */
export function prepareRead(state: State, table: string, where: string): (...parameters: unknown[]) => Row | undefined {
  const statement = state.database.prepare(`SELECT * FROM ${table} WHERE ${where}`);
  return (...parameters) => statement.get(...parameters) as Row | undefined;
}
