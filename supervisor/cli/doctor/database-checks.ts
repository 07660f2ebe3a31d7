// Checks of the database: whole, with a schema that this svc can use.
import { existsSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { sentenceOf, unwritableDatabase } from '../../../shared/files/database-access.ts';
import { DAMAGED_REMEDY, RIGHTS_REMEDY, UNKNOWN_REMEDY } from '../../../shared/files/database-remedies.ts';
import { fewFilesLeftIn, INODES_REMEDY } from '../../../shared/files/free-files.ts';
import { readHistoryEnd } from '../../../shared/files/history-end.ts';
import { notedHistory, refuseLostHistory, shortenedHistory } from '../../../shared/files/lost-history.ts';
import { type Database, Sqlite } from '../../../shared/sqlite.ts';
import { coerceError, messageOf } from '../../../shared/svc-error.ts';
import { storedSchema } from '../start/worker-entry.ts';
import { type Check, type Finding, fault, ok, skip, withConfig } from './check.ts';
import { isModulesFault, modulesFinding } from './modules-check.ts';
import { isSwitchPending } from './recovery/switch-check.ts';

export const DATABASE_CHECKS: readonly Check[] = [
  {
    id: 'database.integrity',
    title: 'The database opens and is whole',
    run: settled(database),
  },
  {
    id: 'database.schema',
    title: 'The database has a schema that this svc can use',
    run: settled(schema),
  },
];

/** While a restore is pending, files of two states lie at the path of the database. */
function settled(look: (filename: string) => Finding | Promise<Finding>): Check['run'] {
  return withConfig(({ config }, { paths }) =>
    isSwitchPending(paths)
      ? skip('a restore is pending: see switch.pending')
      : look(resolve(paths.project, config.database.filename)),
  );
}

function database(filename: string): Finding {
  try {
    refuseLostHistory(filename);
  } catch (error) {
    const { message, hint } = coerceError(error);
    if (hint === undefined) throw error; // the file itself could not be read
    return fault(message, hint);
  }
  const unwritable = unwritableDatabase(filename);
  if (unwritable !== undefined) return fault(sentenceOf(filename, unwritable), unwritable.remedy);
  if (statSync(filename, { throwIfNoEntry: false }) === undefined) return skip('not made yet');
  try {
    const noted = notedHistory(filename); // read before the file, because a running host updates the note with each commit
    const opened = new Sqlite(filename, { readonly: isInUse(filename), fileMustExist: true });
    try {
      const answer = String(opened.pragma('quick_check(1)', { simple: true }));
      if (answer !== 'ok') return fault(`the database is damaged: ${answer}`, DAMAGED_REMEDY);
      const shortened = shortenedHistory(filename, { noted, end: readHistoryEnd(opened) });
      return shortened === undefined ? ok('whole') : fault(shortened.message, shortened.hint ?? '');
    } finally {
      opened.close();
    }
  } catch (error) {
    if (isModulesFault(error)) return modulesFinding(error);
    return fault(`the database does not open: ${messageOf(error)}`, remedyOf(filename, error));
  }
}

/** A database is given up only if SQLite says that the file itself is damaged. */
function remedyOf(filename: string, error: unknown): string {
  const code = String((error as { readonly code?: unknown }).code);
  if (/^SQLITE_(CORRUPT|NOTADB)/.test(code)) return DAMAGED_REMEDY;
  if (!/^SQLITE_(CANTOPEN|PERM|READONLY)/.test(code)) return UNKNOWN_REMEDY;
  return fewFilesLeftIn(dirname(filename)) === undefined ? RIGHTS_REMEDY : INODES_REMEDY;
}

/**
 * A process writes the database, or was killed in a write. Such a file is not touched.
 * Without a WAL, reading creates an empty one. A writable connection removes it at its end; a read-only one would leave it behind.
 */
export const isInUse = (filename: string): boolean =>
  existsSync(`${filename}-wal`) || existsSync(`${filename}-journal`);

/** The same check as at a start: a newer svc may have written a schema that this one would break. */
async function schema(filename: string): Promise<Finding> {
  const stored = await storedSchema(filename);
  if (stored.state === 'absent') return skip('not made yet');
  if (stored.state === 'refused') return fault(stored.reason.message, stored.reason.hint ?? '');
  const { applied, pending } = stored;
  if (pending.length > 0) return ok(`a start brings it up to date: ${pending.join(', ')}`);
  return ok(applied.at(-1) ?? '');
}

/**
 * Reads the database beside a running host. Undefined: there is no database yet. Throws if it cannot be read; `database.integrity` and
 * `database.schema` say why.
 */
export function readDatabase<T>(filename: string, read: (database: Database) => T): T | undefined {
  if (!existsSync(filename)) return undefined;
  refuseLostHistory(filename);
  const database = new Sqlite(filename, { readonly: isInUse(filename), fileMustExist: true });
  try {
    return read(database);
  } finally {
    database.close();
  }
}
