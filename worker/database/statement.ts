// Turns queries of Kysely into statements: the query builder compiles, the writer thread runs. Frequent statements are compiled once and then only
// bound.
import { DummyDriver, Kysely, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler } from 'kysely';
import type { Tables } from './tables.ts';
import type { Statement } from './unit.ts';

/** Builds queries. It has no connection and runs nothing. */
export const sql = new Kysely<Tables>({
  dialect: {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  },
});

interface Compiled {
  compile(): { readonly sql: string; readonly parameters: readonly unknown[] };
}
export type StatementOptions = Omit<Statement, 'sql' | 'parameters'>;

/** One statement from a query that is built for this call. */
export function statement(query: Compiled, options: StatementOptions = {}): Statement {
  const { sql: text, parameters } = query.compile();
  return { ...options, sql: text, parameters };
}

/** A statement that is compiled at its first use. Later calls only bind the named parameters. */
export function prepared<P extends object>(
  build: (parameter: { readonly [K in keyof P]: P[K] }) => Compiled,
  options: StatementOptions = {},
): (parameters: P) => Statement {
  let compiled: { readonly sql: string; readonly order: readonly (Marker | Constant)[] } | undefined;
  return (parameters) => {
    compiled ??= compileOnce(build);
    // The options stand last. Node 20 makes a new hidden class for each `{ ...given, more }`, which slows later reads of the object.
    return {
      sql: compiled.sql,
      parameters: compiled.order.map((part) => ('name' in part ? parameters[part.name as keyof P] : part.value)),
      ...options,
    };
  };
}

/** A read that is compiled at its first use. Later calls only bind the named parameters. */
export function preparedRead<P extends object, Row>(
  build: (parameter: { readonly [K in keyof P]: P[K] }) => Query<Row>,
): (parameters: P) => Query<Row> {
  const bind = prepared<P>(build);
  return (parameters) => ({
    compile: () => bind(parameters),
    execute: () => Promise.reject(new Error('a prepared read is run by a Reader')),
  });
}
interface Query<Row> extends Compiled {
  execute(): Promise<Row[]>;
}

class Marker {
  readonly name: string;
  constructor(name: string) {
    this.name = name;
  }
}
interface Constant {
  readonly value: unknown;
}

function compileOnce<P extends object>(
  build: (parameter: P) => Compiled,
): { sql: string; order: (Marker | Constant)[] } {
  const markers = new Proxy({}, { get: (_, name) => new Marker(String(name)) }) as P;
  const query = build(markers).compile();
  return { sql: query.sql, order: query.parameters.map((value) => (value instanceof Marker ? value : { value })) };
}
