// Counts the values of a database that hold a secret. People may have written them, so they refuse nothing.
//
//   FIND-SECRETS-1  Each value is searched in every spelling. A row comes as one text, since nearly none holds a secret: to fetch a million rows value by
//                   value costs more than to search them.
import type { SecretRegistry } from '../../../shared/log/redaction.ts';
import type { Database } from '../../../shared/sqlite.ts';

/** Between values: no text of ours has it, nor a variable of an environment. */
const BETWEEN = '\u001e';

const LOOK_EACH_ROWS = 10_000;

interface Sought {
  readonly tables: readonly string[];
  readonly secrets: SecretRegistry;
  /** Called each LOOK_EACH_ROWS. */
  readonly look: () => void;
}

export function secretsIn(database: Database, { tables, secrets, look }: Sought): number {
  if (secrets.values.size === 0) return 0;
  const holdsSecret = (text: string): boolean => secrets.find(text).length > 0;
  let hits = 0;
  let seen = 0;
  for (const table of tables) {
    const query = `SELECT ${textOf(database, table)} FROM "${table}"`;
    for (const row of database.prepare(query).pluck().iterate() as Iterable<string | null>) {
      seen += 1;
      if (seen % LOOK_EACH_ROWS === 0) look();
      if (row !== null && holdsSecret(row)) hits += row.split(BETWEEN).filter(holdsSecret).length;
    }
  }
  return hits;
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
