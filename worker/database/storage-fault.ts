// What a failure of SQLite means to an operator: its message, with the cause that SQLite keeps to itself, and what mends it.
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

/** Somebody took the log of SQLite away, or altered it, while it was in use. */
export const LOG_MENDED =
  'the log of the database was removed, replaced or overwritten while in use: what it held is saved, nothing that was answered is lost';

/** Asked for at once: whether files can be opened is looked at now. */
export function storageFault(error: unknown): StorageFault {
  const code = faultCode(error);
  // This reaches whoever asked over HTTP: no path of the machine
  const message = (error as NodeJS.ErrnoException | null)?.syscall ?? messageOf(error);
  const limit = code.startsWith('SQLITE_CANTOPEN') ? openLimit() : undefined;
  if (limit !== undefined) return { message: `${message}: too many files are open (${limit})`, hint: MORE_FILES };
  return { message, hint: HINTS.find(([prefix]) => code.startsWith(prefix))?.[1] ?? 'see .svc/runtime.log' };
}

/** Of SQLite, or of the system where a file was asked for without it. */
export function faultCode(error: unknown): string {
  const { syscall, code } = (error ?? {}) as NodeJS.ErrnoException;
  return sqliteCode(error) ?? (syscall === undefined ? undefined : code) ?? 'error';
}

/** What the kernel has may be missing on the disk: it was to be written. */
export const isFailedWrite = (error: unknown): boolean => /^(SQLITE_(IOERR|FULL)|EIO|ENOSPC)/.test(faultCode(error));

/** There is no room where it was to be written. */
export const isFull = (error: unknown): boolean =>
  /^(SQLITE_(FULL|IOERR_SHMSIZE)|ENOSPC|EDQUOT)/.test(faultCode(error));

/** SQLite says only that it cannot open; another file tells why. */
function openLimit(): 'EMFILE' | 'ENFILE' | undefined {
  try {
    closeSync(openSync('/dev/null', 'r'));
    return undefined;
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    return code === 'EMFILE' || code === 'ENFILE' ? code : undefined;
  }
}
