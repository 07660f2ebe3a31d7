// Checks who can change the files that a host runs: such a user can run code as the host's user.
//
//   FILE-TRUST-1  A file or folder that others may write is rejected; in such a folder any file can be replaced.
//                 A folder with the sticky bit, such as /tmp, is accepted: its files belong to their owners.
//   FILE-TRUST-2  The owner must be this user or root. Root trusts every owner, because in containers it runs hosts of other users.
//   FILE-TRUST-3  Write access of a group is a warning. It is accepted if the group is root's or has the user's own number.
//   FILE-TRUST-4  Files on a read-only file system are accepted.
//   FILE-TRUST-5  A symbolic link is judged by its target and the target's folder.
import { accessSync, constants, realpathSync, type Stats, statSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { type ProjectPaths, projectPaths } from '../../files/paths.ts';
import { SvcError } from '../../svc-error.ts';
import { type ConfigFault, faultLine } from '../fault.ts';
import type { Mode } from '../mode.ts';

export interface Untrusted {
  readonly path: string;
  /** Shown name: relative to the project if inside it. */
  readonly name: string;
  /** `group` is a warning; the other two are rejected. */
  readonly why: 'others' | 'stranger' | 'group';
  /** The fault, for people. */
  readonly what: string;
  /** The command that fixes it. */
  readonly remedy: string;
  /** The mode without the excess bits. */
  readonly safeMode: number;
}

/** Files and folders of every project. Any of them may be missing. */
export function projectFiles({ project, config, env, packageJson, dataDir }: ProjectPaths): readonly string[] {
  const folders = ['plugins', 'dist', 'node_modules'].map((name) => join(project, name));
  return [project, config, env, packageJson, dataDir, ...folders];
}

/** Checks the project's own files. The mode of `.env` is skipped: the reader of `.env` has stricter rules for it. */
export function untrustedInProject(paths: ProjectPaths): readonly Untrusted[] {
  const found = untrustedOf(projectFiles(paths), paths.project);
  return found.filter(({ path, why }) => path !== paths.env || why === 'stranger');
}

/** A code file with the folders above it, up to the project or `top`. Outside of these only its own folder counts. */
export function withFolders(file: string, top: string): readonly string[] {
  const [real, realTop] = [realPath(file) ?? file, realPath(top) ?? top];
  const paths = [real];
  for (let at = dirname(real); ; at = dirname(at)) {
    paths.push(at);
    if (at === realTop || !at.startsWith(realTop + sep)) return paths;
  }
}

/** The paths that others can change, each once. Missing or unreadable paths are skipped: their reader reports them. */
export function untrustedOf(paths: readonly string[], project: string, uid = process.getuid?.()): readonly Untrusted[] {
  if (uid === undefined) return [];
  const looked = new Set<string>();
  return paths.flatMap((path) => {
    const real = realPath(path);
    if (real === undefined) return [];
    return (real === path ? [real] : [real, dirname(real)]).flatMap((at) => {
      if (looked.has(at)) return [];
      looked.add(at);
      return judge(at, { uid, project });
    });
  });
}

export const isRefused = ({ why }: Untrusted): boolean => why !== 'group';

/** In production an error for rejected files. Otherwise, and for files that are only suspicious, warnings. */
export function judgeFiles(
  found: readonly Untrusted[],
  mode: Mode,
): { readonly error: SvcError | undefined; readonly warnings: readonly string[] } {
  const refused = mode === 'production' ? found.filter(isRefused) : [];
  const warnings = found.filter((file) => !refused.includes(file)).map((file) => faultLine(faultOf(file)));
  return { error: refused.length === 0 ? undefined : refusal(refused.map(faultOf)), warnings };
}

const REMEDY = '`svc doctor --fix` takes away the write access of others';
const MOST_TOLD = 20;

function refusal(faults: readonly ConfigFault[]): SvcError {
  const rest = faults.length - MOST_TOLD;
  const told = faults.slice(0, MOST_TOLD);
  const lines = [...told.map(faultLine), ...(rest > 0 ? [`and ${rest} more files`] : [])];
  return new SvcError('config_invalid', lines.join('\n'), { hint: REMEDY, details: { faults: told } });
}

/** The form in which `config check` prints it. */
const faultOf = ({ name, what, remedy }: Untrusted): ConfigFault => ({
  file: name,
  line: 1,
  column: 1,
  path: '',
  message: `${what}; ${remedy}`,
});

/** Called by `loadConfig` before it reads a file. */
export const judgeProject = (project: string, mode: Mode): ReturnType<typeof judgeFiles> =>
  judgeFiles(untrustedInProject(projectPaths(project)), mode);

interface Judge {
  readonly uid: number;
  readonly project: string;
}

const OTHERS = 0o002;
const GROUP = 0o020;
const STICKY = 0o1000;

function judge(path: string, { uid, project }: Judge): Untrusted[] {
  const stat = statSync(path, { throwIfNoEntry: false });
  // The reader of a device or FIFO rejects it by its kind.
  if (stat === undefined || !(stat.isFile() || stat.isDirectory()) || isReadOnly(path)) return [];
  const why = fault(stat, uid);
  if (why === undefined) return [];
  const inside = relative(project, path);
  const name = inside === '' ? '.' : inside.startsWith('..') ? path : inside;
  const safeMode = stat.mode & 0o7777 & ~(OTHERS | GROUP);
  const mode = `0${(stat.mode & 0o7777).toString(8)}`;
  const replaces = stat.isDirectory() ? ', and any file in it can be replaced' : '';
  const who = why === 'others' ? 'others' : `group ${stat.gid}`;
  const bits = why === 'others' ? 'o-w,g-w' : 'g-w';
  const [what, remedy] =
    why === 'stranger'
      ? [`belongs to user ${stat.uid}, not to ${uid} or root`, `chown ${uid} ${quoted(name)}`]
      : [`can be written by ${who} (mode ${mode})${replaces}`, `chmod ${bits} ${quoted(name)}`];
  return [{ path, name, why, what, remedy, safeMode }];
}

function fault(stat: Stats, uid: number): Untrusted['why'] | undefined {
  const isSticky = stat.isDirectory() && (stat.mode & STICKY) !== 0;
  if (stat.uid !== uid && stat.uid !== 0 && uid !== 0) return 'stranger';
  if (isSticky) return undefined;
  if ((stat.mode & OTHERS) !== 0) return 'others';
  const isPrivate = stat.gid === 0 || stat.gid === uid || stat.gid === stat.uid;
  return (stat.mode & GROUP) !== 0 && !isPrivate ? 'group' : undefined;
}

function isReadOnly(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EROFS';
  }
}

function realPath(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}

/** Quoted for a shell. */
const quoted = (name: string): string => (/^[\w./@+-]+$/.test(name) ? name : `'${name.replaceAll("'", "'\\''")}'`);
