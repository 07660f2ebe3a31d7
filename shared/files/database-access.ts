// Whether this user can write the database and its folder. SQLite says only that it cannot open a file. Opens no file: closing a descriptor of a
// locked file drops the lock that this process has on it (POSIX).
import { accessSync, constants, existsSync } from 'node:fs';
import { userInfo } from 'node:os';
import { dirname } from 'node:path';
import { SvcError } from '../svc-error.ts';

export interface Unwritable {
  /** Names the path of the machine: for a terminal and the log. */
  readonly path: string;
  /** `12345 (ann)`, or the number alone. */
  readonly user: string;
  /** Without a path, for clients of HTTP. */
  readonly reason: string;
  readonly remedy: string;
}

/** Undefined if the database can be opened or made, as far as rights decide. */
export function unwritableDatabase(file: string): Unwritable | undefined {
  const folder = existing(dirname(file));
  const role = folder === dirname(file) ? 'its folder' : 'a folder above it';
  return (
    unwritable(folder, { role, mode: constants.W_OK | constants.X_OK }) ??
    [
      { path: file, role: 'its file' },
      { path: `${file}-wal`, role: 'its log' },
      { path: `${file}-shm`, role: 'the index of its log' },
    ]
      .filter(({ path }) => existsSync(path))
      .map(({ path, role: of }) => unwritable(path, { role: of, mode: constants.R_OK | constants.W_OK }))
      .find((found) => found !== undefined)
  );
}

/** Throws `state_dir_unsafe` with path and user. */
export function refuseUnwritableDatabase(file: string): void {
  const found = unwritableDatabase(file);
  if (found === undefined) return;
  throw new SvcError('state_dir_unsafe', sentenceOf(file, found), { hint: found.remedy });
}

export const sentenceOf = (file: string, { reason, path }: Unwritable): string =>
  `the database ${file} cannot be opened: ${reason}${path === file ? '' : `: ${path}`}`;

function unwritable(
  path: string,
  { role, mode }: { readonly role: string; readonly mode: number },
): Unwritable | undefined {
  try {
    accessSync(path, mode);
    return undefined;
  } catch (error) {
    const { code = 'error' } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return undefined; // removed in between
    const user = ownUser();
    return {
      path,
      user,
      reason: `${role} cannot be written by user ${user} (${code})`,
      remedy:
        code === 'EROFS'
          ? 'the file system is read-only: mount it writable (dmesg says why it became so)'
          : `give it to that user: chown ${process.getuid?.()} ${path}, and chmod u+rwX ${path}; or run svc as its owner`,
    };
  }
}

function existing(folder: string): string {
  return existsSync(folder) || dirname(folder) === folder ? folder : existing(dirname(folder));
}

function ownUser(): string {
  const uid = String(process.getuid?.() ?? 'unknown');
  try {
    return `${uid} (${userInfo().username})`;
  } catch {
    return uid; // a user id without a name
  }
}
