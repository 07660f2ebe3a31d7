// Explains a failure of SQLite to an operator: its message, the cause that SQLite does not report, and the remedy.
import { closeSync, openSync } from 'node:fs';
import { messageOf } from '../../shared/svc-error.ts';
import { sqliteCode } from './sqlite/connection.ts';

const UNWRITABLE = 'make .svc/ and its files writable for this user: the host goes on by itself';
const DISK_ERRORS =
  'the disk reports errors: check it (dmesg), and a thin volume for room; the host tries again by itself';

const HINTS: readonly (readonly [prefix: string, hint: string])[] = [
  ['SQLITE_FULL', 'free disk space: the host goes on by itself'],
  ['SQLITE_IOERR_SHMSIZE', 'free disk space: the host goes on by itself'],
  ['SQLITE_READONLY', UNWRITABLE],
  ['SQLITE_CANTOPEN', 'make .svc/ readable and writable for this user: the host goes on by itself'],
  ['SQLITE_BUSY', 'another program holds the database: end it, the host goes on by itself'],
  ['SQLITE_IOERR', DISK_ERRORS],
  ['EIO', DISK_ERRORS],
  ['ENOSPC', 'free disk space: the host goes on by itself'],
  ['EROFS', UNWRITABLE],
  ['EACCES', UNWRITABLE],
];
const MORE_FILES = 'raise the limit of open files (ulimit -n, LimitNOFILE=), or lower http.limits.connections';

export interface StorageFault {
  readonly message: string;
  readonly hint: string;
}

/** Another program removed, replaced or altered the WAL while it was in use. */
export const LOG_MENDED =
  'the log of the database was removed, replaced or overwritten while in use: what it held is saved, nothing that was answered is lost';

/** Call right after the failure: the limit of open files is probed now. */
export function storageFault(error: unknown): StorageFault {
  const code = faultCode(error);
  // HTTP clients see this text: it holds no path of the machine
  const message = (error as NodeJS.ErrnoException | null)?.syscall ?? messageOf(error);
  const limit = code.startsWith('SQLITE_CANTOPEN') ? openLimit() : undefined;
  if (limit !== undefined) return { message: `${message}: too many files are open (${limit})`, hint: MORE_FILES };
  return { message, hint: HINTS.find(([prefix]) => code.startsWith(prefix))?.[1] ?? 'see .svc/runtime.log' };
}

/** The result code of SQLite, or the error code of a failed system call. */
export function faultCode(error: unknown): string {
  const { syscall, code } = (error ?? {}) as NodeJS.ErrnoException;
  return sqliteCode(error) ?? (syscall === undefined ? undefined : code) ?? 'error';
}

/** A failed write: the page cache may hold data that the disk lacks. */
export const isFailedWrite = (error: unknown): boolean => /^(SQLITE_(IOERR|FULL)|EIO|ENOSPC)/.test(faultCode(error));

/** The file system has no room. */
export const isFull = (error: unknown): boolean =>
  /^(SQLITE_(FULL|IOERR_SHMSIZE)|ENOSPC|EDQUOT)/.test(faultCode(error));

/** SQLite reports only that it cannot open a file. Opening another file tells whether the limit of open files is reached. */
function openLimit(): 'EMFILE' | 'ENFILE' | undefined {
  try {
    closeSync(openSync('/dev/null', 'r'));
    return undefined;
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    return code === 'EMFILE' || code === 'ENFILE' ? code : undefined;
  }
}
