// Errors of a database that takes no writes.
import { statfsSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { unwritableDatabase } from '../../shared/files/database-access.ts';
import { DAMAGED_REMEDY, LOST_REMEDY } from '../../shared/files/database-remedies.ts';
import { fewFilesLeftIn, INODES_REMEDY } from '../../shared/files/free-files.ts';
import { SvcError } from '../../shared/svc-error.ts';
import { MigrationDue } from './migrate.ts';
import { logOf, sizeOf } from './sqlite/wal/log-file.ts';
import { faultCode, isFull, type StorageFault, storageFault } from './storage-fault.ts';

// HTTP clients see these messages: they hold no path of the machine.
export const cut = (file: string): SvcError =>
  new SvcError('storage_unavailable', `the database file ${basename(file)} was cut short while in use`, {
    hint: LOST_REMEDY,
  });

export const overwritten = (file: string): SvcError =>
  new SvcError(
    'storage_unavailable',
    `the database file ${basename(file)} was overwritten while in use, and is not whole or not looked at yet`,
    { hint: LOST_REMEDY },
  );

export const gone = (file: string): SvcError =>
  new SvcError(
    'storage_unavailable',
    `the database file ${basename(file)} was moved, removed or replaced while in use`,
    {
      hint: LOST_REMEDY,
    },
  );

export const unsaved = (file: string): SvcError =>
  new SvcError(
    'storage_unavailable',
    `the log ${basename(logOf(file))} was removed or replaced while in use, and cannot be brought over yet: the database is being read`,
    { hint: 'do not stop the host: it goes on by itself as soon as nobody reads the database' },
  );

export const unsettled = (file: string): SvcError =>
  new SvcError(
    'storage_unavailable',
    `what a failed write may have left in the log ${basename(logOf(file))} cannot be brought over yet: the database is being read`,
    { hint: 'end what reads the database: the host goes on by itself as soon as nobody does' },
  );

export const altered = (file: string): SvcError =>
  new SvcError(
    'storage_unavailable',
    `the log ${basename(logOf(file))} was truncated or overwritten while in use: it is written again from memory`,
    { hint: 'the host goes on by itself; find what writes into the folder of the database' },
  );

/** A start copies the WAL before it runs a checkpoint. */
export const noRoomForCopy = (file: string, bytes: number): SvcError =>
  new SvcError('storage_unavailable', `there is no room to copy the log ${basename(logOf(file))}`, {
    hint: roomRemedy(file, bytes),
  });

/** For the smallest group, and the index of the WAL (-shm). */
const LEAST_ROOM_BYTES = 262_144;

/** A checkpoint of the WAL adds at most `logBytes` to the file. */
function roomRemedy(file: string, logBytes: number): string {
  const missing = Math.max(LEAST_ROOM_BYTES, logBytes + LEAST_ROOM_BYTES - freeBytes(dirname(logOf(file))));
  return `free ${missing} bytes more where ${basename(file)} lies: the host goes on by itself`;
}

function logBytesOf(file: string): number {
  try {
    return sizeOf(logOf(file));
  } catch {
    return 0; // the folder may not be readable any more
  }
}

function freeBytes(folder: string): number {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize;
  } catch {
    return 0; // the folder was removed meanwhile
  }
}

/** The cause where SQLite says only that it cannot open or write a file: the rights of the place, or its inodes. */
function placeFault(file: string, code: string): StorageFault | undefined {
  if (!/^(SQLITE_(CANTOPEN|READONLY|PERM)|E(ACCES|ROFS)|error)/.test(code)) return undefined;
  const unwritable = unwritableDatabase(file);
  if (unwritable !== undefined)
    return {
      message: unwritable.reason,
      hint: 'make it writable for that user: the host goes on by itself; svc doctor --only database.integrity names the path',
    };
  const fewFiles = fewFilesLeftIn(dirname(file));
  return fewFiles === undefined
    ? undefined
    : { message: fewFiles, hint: `${INODES_REMEDY}: the host goes on by itself` };
}

export function explain(file: string, error: unknown): SvcError | MigrationDue {
  if (error instanceof SvcError || error instanceof MigrationDue) return error;
  const code = faultCode(error);
  if (code.startsWith('SQLITE_CORRUPT') || code.startsWith('SQLITE_NOTADB')) {
    return new SvcError('database_corrupt', `the database ${basename(file)} is damaged (${code})`, {
      cause: error,
      hint: DAMAGED_REMEDY,
    });
  }
  const { message, hint: usual } = placeFault(file, code) ?? storageFault(error);
  const hint = isFull(error) ? roomRemedy(file, logBytesOf(file)) : usual;
  return new SvcError('storage_unavailable', `the database ${basename(file)} takes no writes: ${message} (${code})`, {
    cause: error,
    hint,
  });
}
