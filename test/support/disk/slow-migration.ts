// A database of the first schema on which the next migration, and it alone, takes its time: a trigger on the note of it counts up to so many.
import { Sqlite } from '../../../shared/sqlite.ts';
import { migrate } from '../../../worker/database/migrate.ts';
import { init } from '../../../worker/database/migrations/0001-init.ts';

/** Of a quick machine in a millisecond; another one takes longer. */
const STEPS = 150_000;
const WORK = 'UPDATE slow SET n = (SELECT count(*) FROM slow a, slow b, slow c) WHERE rowid = 1';

/** Makes the file. */
export function slowToMigrate(file: string, leastMs: number): void {
  const database = new Sqlite(file);
  database.pragma('journal_mode = WAL'); // as any that svc has made
  migrate(database, Date.now(), [init]);
  database.exec('CREATE TABLE slow (n INTEGER)');
  for (let rows = Math.cbrt(leastMs * STEPS); rows > 0; rows -= 1) database.exec('INSERT INTO slow VALUES (0)');
  database.exec(`CREATE TRIGGER slow AFTER INSERT ON migrations BEGIN ${WORK}; DELETE FROM slow; END`);
  database.close();
}
