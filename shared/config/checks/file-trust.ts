// Who can change the files that a host runs: whoever can, runs code as its user.
//
//   T1  A file that others may write is refused, and so is a folder: in it any file can be replaced. A folder with the sticky bit is taken, as /tmp
//       is: files in it belong to their owners.
//   T2  The owner has to be this user or root. Root trusts each owner: it runs hosts over folders of others in containers, and installs services for them.
//   T3  Write access of a group is a warning, and nothing where the group is one user's own (its number is that user's) or root's.
//   T4  On a file system that is mounted read-only nobody here can change anything.
//   T5  A symbolic link counts as what it leads to, with the folder that holds that.
import { accessSync, constants, realpathSync, type Stats, statSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { type ProjectPaths, projectPaths } from '../../files/paths.ts';
import { SvcError } from '../../svc-error.ts';
import { type ConfigFault, faultLine } from '../fault.ts';
import type { Mode } from '../mode.ts';

export interface Untrusted {
  readonly path: string;
  /** As people see it: relative to the project where it lies in it. */
  readonly name: string;
  /** `group` is worth a warning; the other two are refused. */
  readonly why: 'others' | 'stranger' | 'group';
  /** What is wrong with it. */
  readonly what: string;
  /** The command that mends it. */
  readonly remedy: string;
  /** The mode without the bits that are too many. */
  readonly safeMode: number;
}

/** What lies in every project: nothing of it has to be there. */
export function projectFiles({ project, config, env, packageJson, dataDir }: ProjectPaths): readonly string[] {
  const folders = ['plugins', 'dist', 'node_modules'].map((name) => join(project, name));
  return [project, config, env, packageJson, dataDir, ...folders];
}

/** Of the project itself. Whoever reads `.env` is stricter about its mode, and says so. */
export function untrustedInProject(paths: ProjectPaths): readonly Untrusted[] {
  const found = untrustedOf(projectFiles(paths), paths.project);
  return found.filter(({ path, why }) => path !== paths.env || why === 'stranger');
}

/** A file of code, with the folders above it as far as the project, or `top`; of a file outside of that its own folder alone. */
export function withFolders(file: string, top: string): readonly string[] {
  const [real, realTop] = [realPath(file) ?? file, realPath(top) ?? top];
  const paths = [real];
  for (let at = dirname(real); ; at = dirname(at)) {
    paths.push(at);
    if (at === realTop || !at.startsWith(realTop + sep)) return paths;
  }
}

/** Of these paths what others can change, each once. What is not there, or cannot be looked at, is told by whoever needs it. */
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

/** In production the error that refuses them; else, and of what is no reason to refuse, warnings. */
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

/** What `config check` says it with. */
const faultOf = ({ name, what, remedy }: Untrusted): ConfigFault => ({
  file: name,
  line: 1,
  column: 1,
  path: '',
  message: `${what}; ${remedy}`,
});

/** `loadConfig` calls this before it believes a file. */
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
  // Whoever reads a device or a FIFO refuses it for what it is.
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

/** For a shell. */
const quoted = (name: string): string => (/^[\w./@+-]+$/.test(name) ? name : `'${name.replaceAll("'", "'\\''")}'`);
