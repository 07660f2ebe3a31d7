// Counts the values of a database that hold a secret. People may have written them, so they refuse nothing.
//
//   FIND-SECRETS-1  Each text is searched in every spelling. Rows come as one text each, and are searched many at a time: nearly none holds a secret,
//                   and a search costs more by its call than by its characters.
import type { SecretRegistry } from '../../../shared/log/redaction.ts';
import { mayHoldEscape } from '../../../shared/log/secret-spellings.ts';
import type { Database } from '../../../shared/sqlite.ts';

/** Between values: no text of ours has it, nor a variable of an environment. */
const BETWEEN = '\u001e';
const SEARCHED_CHARACTERS = 65_536;
/** A shorter text holds none. */
const SHORTEST_TEXT = 6;

export function secretsIn(database: Database, tables: readonly string[], secrets: SecretRegistry): number {
  if (secrets.values.size === 0) return 0;
  const search = new Search(secrets);
  for (const table of tables) {
    const query = `SELECT ${textOf(database, table)} FROM "${table}"`;
    for (const row of database.prepare(query).pluck().iterate() as Iterable<string | null>) search.add(row ?? '');
  }
  return search.end();
}

/** All values of a row that may be texts. Bytes are read as what they would be as a text. */
function textOf(database: Database, table: string): string {
  const columns = database.pragma(`table_info("${table}")`) as readonly {
    readonly name: string;
    readonly type: string;
  }[];
  const texts = columns.filter(({ type }) => type !== 'INTEGER' && type !== 'REAL').map(({ name }) => `"${name}"`);
  return texts.length === 0 ? 'NULL' : `concat_ws(char(30), ${texts.join(', ')})`;
}

class Search {
  readonly #secrets: SecretRegistry;
  #rows: string[] = [];
  #characters = 0;
  #hits = 0;

  constructor(secrets: SecretRegistry) {
    this.#secrets = secrets;
  }

  /** Escapes are decoded value by value. */
  add(row: string): void {
    if (mayHoldEscape(row)) return this.#count(row);
    this.#rows.push(row);
    this.#characters += row.length;
    if (this.#characters >= SEARCHED_CHARACTERS) this.#look();
  }

  end(): number {
    this.#look();
    return this.#hits;
  }

  #look(): void {
    const rows = this.#rows;
    this.#rows = [];
    this.#characters = 0;
    if (this.#secrets.find(rows.join(BETWEEN)).length > 0) for (const row of rows) this.#count(row);
  }

  #count(row: string): void {
    const holds = (value: string): boolean => value.length >= SHORTEST_TEXT && this.#secrets.find(value).length > 0;
    this.#hits += row.split(BETWEEN).filter(holds).length;
  }
}
