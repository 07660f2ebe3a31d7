// A database of the first schema on which the next migration, and it alone, takes its time: a trigger on the note of it works for so long.
import { Sqlite } from '../../../shared/sqlite.ts';
import { migrate } from '../../../worker/database/migrate.ts';
import { init } from '../../../worker/database/migrations/0001-init.ts';
import { cpuMs } from '../fair-time.ts';

const ROWS_TRIED = 150;
const WORK = 'UPDATE slow SET n = (SELECT count(*) FROM slow a, slow b, slow c) WHERE rowid = 1';

/** Makes the file. The time is one of the processor: a machine that is busy only while the rows are tried would make a migration that is soon done. */
export function slowToMigrate(file: string, migrationMs: number): void {
  const database = new Sqlite(file);
  database.pragma('journal_mode = WAL'); // as any that svc has made
  migrate(database, Date.now(), [init]);
  database.exec('CREATE TABLE slow (n INTEGER)');
  const fill = (rows: number): void => {
    database.exec('DELETE FROM slow');
    for (let n = 0; n < rows; n += 1) database.exec('INSERT INTO slow VALUES (0)');
  };
  fill(ROWS_TRIED);
  const from = cpuMs();
  database.exec(WORK);
  fill(Math.ceil(ROWS_TRIED * Math.cbrt(migrationMs / (cpuMs() - from))));
  database.exec(`CREATE TRIGGER slow AFTER INSERT ON migrations BEGIN ${WORK}; DELETE FROM slow; END`);
  database.close();
}
