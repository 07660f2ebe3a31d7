// What is read from the whole copy of the database that lies in a checkpoint: SQLite's check of its pages, and the digest that the manifest keeps.
import { createHash } from 'node:crypto';
import { closeSync, openSync, readSync } from 'node:fs';
import { Sqlite } from '../../../shared/sqlite.ts';
import { messageOf, SvcError } from '../../../shared/svc-error.ts';
import { isDamage, readingAll } from '../../database/sqlite/connection.ts';

export interface Digest {
  readonly bytes: number;
  readonly sha256: string;
}

const READ_BYTES = 1_048_576;
const HINT =
  'no checkpoint was made; `svc doctor` checks the database, the last good checkpoint is in `svc checkpoint list`';

/** Nobody writes the file, and it has no WAL. `isMapped`: see `readingAll`. Throws `database_corrupt`. */
export function checkPages(file: string, isMapped: boolean): void {
  const database = new Sqlite(file, { readonly: true, fileMustExist: true });
  if (isMapped) readingAll(database);
  try {
    const [first] = database.pragma('quick_check(1)') as readonly { readonly quick_check: string }[];
    if (first?.quick_check === 'ok') return;
    throw new SvcError('database_corrupt', `the database is damaged: ${first?.quick_check ?? 'no answer'}`, {
      hint: HINT,
    });
  } catch (error) {
    throw isDamage(error)
      ? new SvcError('database_corrupt', `the database is damaged: ${messageOf(error)}`, { cause: error, hint: HINT })
      : error;
  } finally {
    database.close();
  }
}

/** Blocks its thread: streams would cost another third of the time. */
export function digestOf(file: string): Digest {
  const descriptor = openSync(file, 'r');
  try {
    const hash = createHash('sha256');
    const buffer = Buffer.allocUnsafe(READ_BYTES);
    let bytes = 0;
    for (let read = readSync(descriptor, buffer); read > 0; read = readSync(descriptor, buffer)) {
      hash.update(buffer.subarray(0, read));
      bytes += read;
    }
    return { bytes, sha256: hash.digest('hex') };
  } finally {
    closeSync(descriptor);
  }
}
