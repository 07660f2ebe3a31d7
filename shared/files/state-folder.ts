// The folder `.svc/`: made with mode 0700, or checked before anything in it is read or written.
//
//   STATE-FOLDER-1  Our own folder is refused if its group or others have access. The folder of another user is refused too. Root's folder with
//                   access for our group is accepted (a mount point).
//                   On a mount point that root owns with our group, others may read: kubelet mounts volumes 2775. They never may write.
//   STATE-FOLDER-2  A symbolic link is refused: its owner could choose where the state goes.
//   STATE-FOLDER-3  A path that is too long for SQLite is refused before anything is made. SQLite would report only that it cannot open the file.
import { accessSync, constants, existsSync, lstatSync, mkdirSync, type Stats } from 'node:fs';
import { dirname } from 'node:path';
import { messageOf, SvcError } from '../svc-error.ts';
import { type ProjectPaths, STATE_DIR } from './paths.ts';

/** Makes the folder or checks it. Throws `state_dir_unsafe`. */
export function ensureStateFolder(path: string): Stats {
  refuseLongPath(path);
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    if (!isCode(error, 'EEXIST'))
      throw new SvcError('state_dir_unsafe', `cannot make ${path}: ${String(error)}`, {
        cause: error,
        hint: 'check owner and rights of the project folder',
      });
  }
  return checkStateFolder(path);
}

/** Whose rights count; tests give others. */
export interface StateUser {
  readonly uid: number;
  readonly groups: readonly number[];
  /** Device of the folder above. */
  readonly parentDevice: number;
}

/** Checks the existing folder. Throws `state_dir_unsafe`; `ENOENT` is passed on. */
export function checkStateFolder(path: string, user: Partial<StateUser> = {}): Stats {
  const stat = lstatSync(path);
  const { uid = process.getuid?.() ?? 0, groups = ownGroups(), parentDevice = lstatSync(dirname(path)).dev } = user;
  const refuse = (what: string, hint: string): never => {
    throw new SvcError('state_dir_unsafe', `${path} ${what}`, { hint });
  };
  if (!stat.isDirectory()) refuse('is not a folder', `move it away; svc makes its own`);
  const mode = stat.mode & 0o777;
  const ours = stat.uid === uid;
  if (!ours && stat.uid !== 0)
    refuse(`belongs to user ${stat.uid}, not to ${uid}`, 'run svc as its owner, or change the owner of the folder');
  const isVolume = stat.dev !== parentDevice && stat.uid === 0 && groups.includes(stat.gid) && (mode & 0o002) === 0;
  if ((mode & 0o007) !== 0 && !isVolume) refuse(`is open to others (mode 0${mode.toString(8)})`, `chmod 0700 ${path}`);
  if (ours && (mode & 0o070) !== 0) refuse(`is open to its group (mode 0${mode.toString(8)})`, `chmod 0700 ${path}`);
  return stat;
}

/** What to log of a folder that was accepted though others may read it; undefined where they may not. */
export function volumeNote(path: string, { mode }: Stats): string | undefined {
  if ((mode & 0o007) === 0) return undefined;
  return `${path} is a mounted volume that others may list (mode ${(mode & 0o7777).toString(8)}): its files are ours alone`;
}

const ownGroups = (): readonly number[] => [process.getegid?.() ?? 0, ...(process.getgroups?.() ?? [])];

/**
 * Throws `state_dir_unsafe` if the next worker could not start with this folder and its files. Opens no file: closing a descriptor of a locked file
 * drops the lock that this process has on it (POSIX).
 */
export function refuseUnusableState({ stateDir, writerLock, database }: StatePaths): void {
  try {
    checkStateFolder(stateDir);
    accessSync(stateDir, USABLE | constants.X_OK);
    for (const file of [writerLock, database]) if (existsSync(file)) accessSync(file, USABLE);
  } catch (error) {
    if (error instanceof SvcError) throw error;
    throw new SvcError('state_dir_unsafe', `${stateDir} cannot be used: ${messageOf(error)}`, {
      cause: error,
      hint: `give ${stateDir} and what is in it to the user that the host runs as: chown -R, then chmod -R u+rwX`,
    });
  }
}

type StatePaths = Pick<ProjectPaths, 'stateDir' | 'writerLock' | 'database'>;
const USABLE = constants.R_OK | constants.W_OK;

/** SQLite takes paths of 512 bytes. The rest is for the names of its files and their suffixes. */
const LONGEST_PATH_BYTES = 470;

function refuseLongPath(path: string): void {
  const bytes = Buffer.byteLength(path);
  if (bytes > LONGEST_PATH_BYTES)
    throw new SvcError(
      'state_dir_unsafe',
      `the path of ${STATE_DIR} has ${bytes} bytes; ${LONGEST_PATH_BYTES} can be used`,
      {
        hint: 'move the project to a shorter path',
      },
    );
}

const isCode = (error: unknown, code: string): boolean =>
  error instanceof Error && 'code' in error && error.code === code;
