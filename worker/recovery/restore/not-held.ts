// Counts what of the replaced state the schema of the restored one has no place for: columns and tables of a newer svc.
import type { Row } from './carry.ts';
import type { State } from './state-reader.ts';

interface States {
  readonly replaced: State;
  readonly kept: State;
  /** The schema of the restored database, where `kept` has not been brought up to it yet. */
  readonly schema?: State | undefined;
}

export class NotHeld {
  readonly #states: States;
  readonly #missing = new Map<string, readonly string[]>();
  readonly #counts = new Map<string, number>();

  constructor(states: States) {
    this.#states = states;
  }

  /** Rows that come along. */
  count(table: string, rows: readonly Row[]): void {
    for (const name of this.#missingOf(table)) {
      const lost = rows.filter((row) => row[name] != null).length;
      if (lost > 0) this.#add(`${table}.${name}`, lost);
    }
  }

  /** With the rows of tables that the restored database does not have. */
  counts(): Readonly<Record<string, number>> {
    const { replaced, kept, schema } = this.#states;
    const held = new Set([...tablesOf(kept), ...(schema === undefined ? [] : tablesOf(schema))]);
    for (const table of tablesOf(replaced)) {
      if (held.has(table)) continue;
      const [found] = replaced.query(`SELECT count(*) AS n FROM "${table.replaceAll('"', '""')}"`);
      const rows = Number(found?.['n'] ?? 0);
      if (rows > 0) this.#counts.set(table, rows);
    }
    return Object.fromEntries([...this.#counts].sort(([one], [other]) => (one < other ? -1 : 1)));
  }

  #missingOf(table: string): readonly string[] {
    const known = this.#missing.get(table);
    if (known !== undefined) return known;
    const held = this.#columnsOf(table);
    const missing = [...this.#states.replaced.columns(table)].filter((name) => !held.has(name));
    this.#missing.set(table, missing);
    return missing;
  }

  #columnsOf(table: string): ReadonlySet<string> {
    const { kept, schema } = this.#states;
    return new Set([...kept.columns(table), ...(schema?.columns(table) ?? [])]);
  }

  #add(what: string, count: number): void {
    this.#counts.set(what, (this.#counts.get(what) ?? 0) + count);
  }
}

/** Without those of SQLite itself. */
const tablesOf = (state: State): readonly string[] =>
  state
    .query("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite!_%' ESCAPE '!'")
    .map(({ name }) => String(name));
