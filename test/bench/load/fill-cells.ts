// Makes a database as large as a measurement needs it: cells of a plugin, of random texts, which nothing compresses.
import { statSync } from 'node:fs';
import { Sqlite } from '../../../shared/sqlite.ts';

const MIB = 1_048_576;
const ROWS = `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 4000)
  INSERT INTO cells SELECT 'plugin', 'bench', printf('%d/%d', ?, i), '"' || hex(randomblob(1000)) || '"', 1 FROM n`;

/** A database of svc that nobody has open. It has no WAL afterwards. */
export function fillCells(file: string, mb: number): void {
  const database = new Sqlite(file);
  database.pragma('wal_checkpoint(TRUNCATE)');
  const insert = database.prepare(ROWS);
  for (let turn = 0; statSync(file).size < mb * MIB; turn += 1) {
    insert.run(turn);
    database.pragma('wal_checkpoint(TRUNCATE)');
  }
  database.close();
}
