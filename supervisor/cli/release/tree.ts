// The new code of a release, made beside the running one: `.svc/releases/r7/next/`. It has everything that a project has but state, data and secrets.
import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  type Stats,
} from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { syncFolder } from '../../../shared/files/atomic-file.ts';
import { syncTree } from '../../../shared/files/move-across.ts';
import { CONFIG_FILE, STAYING } from '../../../shared/files/paths.ts';
import { type ReleaseRecord, releaseFolder } from '../../../shared/recovery/release-record.ts';
import { SvcError } from '../../../shared/svc-error.ts';

export const MODULES = 'node_modules';
const LOCKFILE = 'package-lock.json';

export type Source = ReleaseRecord['source'];

export const nextTree = (project: string, name: string): string => join(releaseFolder(project, name), 'next');
export const previousTree = (project: string, name: string): string => join(releaseFolder(project, name), 'previous');

/** Where a rollback moves the new code to, until it is removed. */
export const failedTree = (project: string, name: string): string => join(releaseFolder(project, name), 'failed');

export interface TreeOptions {
  readonly project: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal;
}

/** The commit that a name stands for, in full. Throws `usage` where git does not know it. */
export async function commitOf(name: string, options: TreeOptions): Promise<string> {
  const { stdout, failed, stderr } = await git(options, ['rev-parse', '--verify', '--quiet', `${name}^{commit}`]);
  if (!failed && /^[0-9a-f]{40,64}$/u.test(stdout)) return stdout;
  throw new SvcError('usage', `git knows no commit ${name} here${stderr === '' ? '' : `: ${stderr}`}`, {
    hint: 'git fetch brings commits of others; `svc release begin --from FOLDER` takes a folder',
  });
}

/** The commit that is checked out; undefined outside a repository. */
export async function presentCommit(options: TreeOptions): Promise<string | undefined> {
  const { stdout, failed } = await git(options, ['rev-parse', '--verify', '--quiet', 'HEAD']);
  return failed || stdout === '' ? undefined : stdout;
}

/** Whether `older` is an ancestor of `newer`, or the same. */
export async function isAncestor(older: string, newer: string, options: TreeOptions): Promise<boolean> {
  return !(await git(options, ['merge-base', '--is-ancestor', older, newer])).failed;
}

/** Makes the tree anew. It appears under its name once it is whole. The packages are not installed yet. */
export async function makeTree(target: string, source: Source, options: TreeOptions): Promise<string> {
  const { project } = options;
  const part = `${target}.part`;
  rmSync(part, { recursive: true, force: true });
  rmSync(target, { recursive: true, force: true });
  mkdirSync(part, { recursive: true, mode: 0o700 });
  if (source.kind === 'commit') await checkOut(source.value, part, options);
  else copyFolder(source.value, part);
  // A configuration that is not part of the code stays as it is.
  if (!existsSync(join(part, CONFIG_FILE))) cpSync(join(project, CONFIG_FILE), join(part, CONFIG_FILE));
  renameSync(part, target);
  return target;
}

/** The files of a commit, by an index of its own: neither HEAD nor the index of the project changes. */
async function checkOut(commit: string, target: string, options: TreeOptions): Promise<void> {
  const { stdout: below } = await git(options, ['rev-parse', '--show-prefix']);
  const index = `${target}.index`;
  const env = { ...options.env, GIT_INDEX_FILE: index };
  try {
    const tree = below === '' ? commit : `${commit}:${below}`;
    for (const args of [
      ['read-tree', tree],
      ['checkout-index', '--all', `--prefix=${target}/`],
    ]) {
      const { failed, stderr } = await git({ ...options, env }, args);
      if (failed) throw new SvcError('refused', `git ${args[0]} failed: ${stderr}`, { hint: 'nothing was changed' });
    }
  } finally {
    rmSync(index, { force: true });
  }
}

function copyFolder(from: string, target: string): void {
  for (const entry of readdirSync(from)) {
    if (STAYING.has(entry) || entry === MODULES) continue;
    cpSync(join(from, entry), join(target, entry), {
      recursive: true,
      verbatimSymlinks: true,
      preserveTimestamps: true,
    });
  }
}

/**
 * SHA-256 over paths and contents, without installed packages: it tells whether a tree still is the one that was checked. A configuration that comes
 * from the project is no part of it: it is taken anew at the exchange.
 */
export async function hashOfTree(folder: string, source: Source, options: TreeOptions): Promise<string> {
  const left = (await hasConfig(source, options)) ? undefined : join(folder, CONFIG_FILE);
  const hash = createHash('sha256');
  for (const path of filesBelow(folder)) {
    if (path === left) continue;
    const isLink = lstatSync(path).isSymbolicLink();
    const content = isLink ? readlinkSync(path) : readFileSync(path);
    hash.update(`${relative(folder, path)}\0${content.length}\0`).update(content);
  }
  return hash.digest('hex');
}

/** Files and links below a folder, without installed packages. */
export function* filesBelow(folder: string): Generator<string> {
  const entries = readdirSync(folder, { withFileTypes: true });
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = join(folder, entry.name);
    if (entry.isDirectory() && entry.name !== MODULES) yield* filesBelow(path);
    else if (entry.isFile() || entry.isSymbolicLink()) yield path;
  }
}

/** Whether every file of a folder of code stands in the tree as it is. The tree may have more: what a build has made. */
export function isCopyOf(folder: string, tree: string): boolean {
  for (const entry of readdirSync(folder)) {
    if (STAYING.has(entry) || entry === MODULES) continue;
    const from = join(folder, entry);
    const paths = lstatSync(from).isDirectory() ? [...filesBelow(from)] : [from];
    if (!paths.every((path) => isSame(path, join(tree, relative(folder, path))))) return false;
  }
  return true;
}

/** What lies at a path; undefined for nothing, also where a file stands in place of a folder above it. */
export function entryAt(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOTDIR') return undefined;
    throw error;
  }
}

/** Whether both are the same file, or the same link. */
export function isSame(one: string, other: string): boolean {
  const found = entryAt(other);
  if (found === undefined || found.isSymbolicLink() !== lstatSync(one).isSymbolicLink()) return false;
  return found.isSymbolicLink()
    ? readlinkSync(one) === readlinkSync(other)
    : found.isFile() && readFileSync(one).equals(readFileSync(other));
}

/** SHA-256 of the lockfile of a tree; null without one. */
export function lockfileOf(folder: string): string | null {
  const file = join(folder, LOCKFILE);
  return existsSync(file) ? createHash('sha256').update(readFileSync(file)).digest('hex') : null;
}

/** The command line of the svc that is installed in a tree; undefined where none is. */
export function installedCli(folder: string): string | undefined {
  const cli = join(folder, MODULES, 'svc', 'dist', 'cli.js');
  return existsSync(cli) ? cli : undefined;
}

/** Files that git tracks and that were changed since the last commit. */
export async function changedFiles(options: TreeOptions): Promise<readonly string[]> {
  const { stdout, failed } = await git(options, ['status', '--porcelain', '--untracked-files=no', '.']);
  return failed || stdout === '' ? [] : stdout.split('\n').map((line) => line.slice(3));
}

const hasConfig = async ({ kind, value }: Source, options: TreeOptions): Promise<boolean> =>
  kind === 'commit'
    ? !(await git(options, ['cat-file', '-e', `${value}:./${CONFIG_FILE}`])).failed
    : existsSync(join(value, CONFIG_FILE));

/** A configuration that the source does not have is that of the project, as it is now. It is on the disk then. */
export async function takePresentConfig(next: string, source: Source, options: TreeOptions): Promise<void> {
  if (await hasConfig(source, options)) return;
  cpSync(join(options.project, CONFIG_FILE), join(next, CONFIG_FILE));
  syncTree(join(next, CONFIG_FILE));
  syncFolder(next);
}

/** Lets HEAD and the index follow the code that was switched. Only where the project is the root of its repository. */
export async function moveHead(commit: string, options: TreeOptions): Promise<string | undefined> {
  const root = await git(options, ['rev-parse', '--show-toplevel']);
  if (root.failed || resolve(root.stdout) !== resolve(options.project))
    return 'the repository begins above the project: git still shows the former commit';
  for (const args of [
    ['update-ref', '--no-deref', '-m', 'svc release', 'HEAD', commit],
    ['read-tree', commit],
  ]) {
    const { failed, stderr } = await git(options, args);
    if (failed) return `git ${args[0]} failed: ${stderr}`;
  }
  return undefined;
}

/** `input`: its standard input. */
export async function git({ project, env, signal }: TreeOptions, args: readonly string[], input?: string) {
  const { execa } = await import('execa');
  const { stdout, stderr, failed } = await execa('git', args, {
    cwd: project,
    env,
    extendEnv: false,
    reject: false,
    cancelSignal: signal,
    ...(input === undefined ? { stdin: 'ignore' } : { input }),
  });
  return { stdout: String(stdout ?? ''), stderr: String(stderr ?? '').split('\n', 1)[0] ?? '', failed };
}
