// A restored state that goes on under the epoch of before. A restore that forgets the outcomes of the state that it replaces.
import { Sqlite } from '../../../../../shared/sqlite.ts';
import { prepareDatabase as Real } from '../../../../../worker/recovery/restore/prepare.ts';
import { planted } from './planted.ts';

export { carriedOf, type PrepareOptions } from '../../../../../worker/recovery/restore/prepare.ts';

export const prepareDatabase: typeof Real = (options) => {
  if (planted('restore-without-carry')) return Real({ ...options, carry: false });
  if (!planted('restore-keeps-epoch')) return Real(options);
  const epoch = onDatabase(options.file, (database) =>
    database.prepare("SELECT value FROM meta WHERE key = 'epoch'").pluck().get(),
  );
  const compared = Real(options);
  onDatabase(options.file, (database) => database.prepare("UPDATE meta SET value = ? WHERE key = 'epoch'").run(epoch));
  return compared;
};

function onDatabase<T>(file: string, work: (database: InstanceType<typeof Sqlite>) => T): T {
  const database = new Sqlite(file);
  try {
    return work(database);
  } finally {
    database.close();
  }
}
