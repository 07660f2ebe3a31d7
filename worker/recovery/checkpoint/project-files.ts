// The files of a project that belong into a checkpoint: configuration, package files, code. Never a secret of its own.
//
//   PROJECT-FILES-1  In a git repository code is what git tracks. Elsewhere it is every file but those in `node_modules`, `dist`, `.svc` and `data`.
//   PROJECT-FILES-2  Files that exist to hold a secret are left out, tracked or not: `.env`, `link.key`, `.npmrc`, `*.pem`, `*.key`.
//   PROJECT-FILES-3  A symbolic link inside the project is read as the file it leads to. Others are left out and counted.
import { execFile } from 'node:child_process';
import { opendir, realpath, stat } from 'node:fs/promises';
import { basename, join, relative, sep } from 'node:path';
import { promisify } from 'node:util';
import { CONFIG_FILE, DATA_DIR, STATE_DIR } from '../../../shared/files/paths.ts';

/** More code than this is kept by its commit alone. */
export const LARGEST_CODE_BYTES = 64 * 1024 * 1024;
/** Always kept, tracked or not. */
export const ALWAYS = [CONFIG_FILE, 'package.json', 'package-lock.json'] as const;

const MOST_FILES = 100_000;
const GIT_MS = 30_000;
const LARGEST_LISTING = 64 * 1024 * 1024;
/** In every folder, and in the project's own. */
const LEFT_OUT = new Set(['node_modules', '.git']);
const LEFT_OUT_AT_THE_TOP = new Set(['dist', STATE_DIR, DATA_DIR]);
const SECRET_FILE = /^(\.env(\..*)?|link\.key|\.npmrc|.*\.pem|.*\.key)$/i;
const EXAMPLE = /^\.env\.(example|sample|template)$/i;

export interface Commit {
  readonly id: string;
  readonly dirty: boolean;
}

export interface ProjectFiles {
  /** Relative to the project, with `/`. */
  readonly paths: readonly string[];
  readonly commit: Commit | null;
  readonly warnings: readonly string[];
}

/** `without`: absolute paths that are no code, such as a database that lies in the project. */
export async function listProjectFiles(project: string, without: readonly string[] = []): Promise<ProjectFiles> {
  const commit = await readCommit(project);
  const listed = commit === undefined ? await walk(project, '', without) : await tracked(project);
  const root = await realpath(project);
  const files: { readonly path: string; readonly bytes: number }[] = [];
  let links = 0;
  for (const path of listed) {
    if (isSecretFile(path) || isWithin(join(project, path), without)) continue;
    const bytes = await readableBytes(root, path);
    if (bytes === 'outside') links += 1;
    else if (bytes !== undefined) files.push({ path, bytes });
  }
  const warnings = links === 0 ? [] : [`left out ${links} symbolic links that lead out of the project`];
  const all = [...files.map(({ path }) => path), ...ALWAYS];
  const code = { commit: commit ?? null, warnings };
  const size = files.reduce((sum, { bytes }) => sum + bytes, 0);
  if (size <= LARGEST_CODE_BYTES) return { paths: [...new Set(all)].sort(), ...code };
  const bytes = `the code has ${Math.ceil(size / 1_048_576)} MiB, of which a checkpoint keeps 64`;
  const how =
    commit === undefined
      ? 'it is not in this checkpoint: put the project under git, or keep large files in data/'
      : `only its commit ${commit.id.slice(0, 12)} is kept`;
  return { paths: [...ALWAYS].sort(), commit: commit ?? null, warnings: [...warnings, `${bytes}; ${how}`] };
}

export const isSecretFile = (path: string): boolean => {
  const name = basename(path);
  return SECRET_FILE.test(name) && !EXAMPLE.test(name);
};

const isWithin = (path: string, folders: readonly string[]): boolean =>
  folders.some((folder) => path === folder || [sep, '-', '.'].some((next) => path.startsWith(folder + next)));

/** Undefined: no regular file, or gone. */
async function readableBytes(root: string, path: string): Promise<number | 'outside' | undefined> {
  try {
    const real = await realpath(join(root, path));
    const inside = relative(root, real);
    if (inside.startsWith(`..${sep}`) || inside.startsWith(sep)) return 'outside';
    if (isSecretFile(real) || isLeftOut(inside)) return undefined;
    const stats = await stat(real);
    return stats.isFile() ? stats.size : undefined;
  } catch {
    return undefined;
  }
}

const isLeftOut = (inside: string): boolean => {
  const [top = '', ...rest] = inside.split(sep);
  return top === STATE_DIR || top === DATA_DIR || [top, ...rest].some((name) => LEFT_OUT.has(name));
};

async function walk(project: string, folder: string, without: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  for await (const entry of await opendir(join(project, folder))) {
    const isTop = folder === '' && LEFT_OUT_AT_THE_TOP.has(entry.name);
    if (LEFT_OUT.has(entry.name) || isTop) continue;
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
    if (isWithin(join(project, path), without)) continue;
    if (entry.isDirectory()) found.push(...(await walk(project, path, without)));
    else if (entry.isFile() || entry.isSymbolicLink()) found.push(path);
    if (found.length > MOST_FILES) return found;
  }
  return found;
}

/** Undefined outside a repository, without git, and before the first commit. */
export async function readCommit(project: string): Promise<Commit | undefined> {
  try {
    const id = (await git(project, ['rev-parse', '--verify', 'HEAD'])).trim();
    if (!/^[0-9a-f]{40,64}$/.test(id)) return undefined;
    if ((await git(project, ['ls-files', '-z', '--', 'package.json', CONFIG_FILE])) === '') return undefined; // another project's repository
    return { id, dirty: (await git(project, ['status', '--porcelain', '-z', '--', '.'])) !== '' };
  } catch {
    return undefined;
  }
}

/** Whether the project is the root of its repository. */
export const isRepositoryRoot = async (project: string): Promise<boolean> =>
  git(project, ['rev-parse', '--show-prefix']).then(
    (prefix) => prefix.trim() === '',
    () => false,
  );

const tracked = async (project: string): Promise<readonly string[]> =>
  (await git(project, ['ls-files', '-z'])).split('\0').filter((path) => path !== '');

/** Takes no lock of the repository, and runs no program that its configuration names. */
export const gitArguments = (project: string, args: readonly string[]): readonly string[] => [
  '--no-optional-locks',
  '-c',
  'core.fsmonitor=false',
  '-C',
  project,
  ...args,
];

async function git(project: string, args: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)('git', gitArguments(project, args), {
    timeout: GIT_MS,
    maxBuffer: LARGEST_LISTING,
  });
  return stdout;
}
