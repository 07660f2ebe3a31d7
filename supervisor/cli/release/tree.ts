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
import { join, relative } from 'node:path';
import { syncFolder } from '../../../shared/files/atomic-file.ts';
import { syncTree } from '../../../shared/files/move-across.ts';
import { CONFIG_FILE, STAYING } from '../../../shared/files/paths.ts';
import { type ReleaseRecord, releaseFolder } from '../../../shared/recovery/release-record.ts';
import { SvcError } from '../../../shared/svc-error.ts';
import { folderInRepository, git, type TreeOptions, withIndexOf } from './repository.ts';

export const MODULES = 'node_modules';
const LOCKFILE = 'package-lock.json';
const MANIFEST = 'package.json';
/** What npm has installed, written by npm itself. */
const INSTALLED = join(MODULES, '.package-lock.json');

export type Source = ReleaseRecord['source'];

export const nextTree = (project: string, name: string): string => join(releaseFolder(project, name), 'next');
export const previousTree = (project: string, name: string): string => join(releaseFolder(project, name), 'previous');

/** Where a rollback moves the new code to, until it is removed. */
export const failedTree = (project: string, name: string): string => join(releaseFolder(project, name), 'failed');

/**
 * Makes the tree anew. It appears under its name once it is whole. The packages are not installed yet. Throws `refused` for code without a
 * package.json: npm would walk up from it, and work on the project that serves.
 */
export async function makeTree(target: string, source: Source, options: TreeOptions): Promise<string> {
  const { project } = options;
  const part = `${target}.part`;
  rmSync(part, { recursive: true, force: true });
  rmSync(target, { recursive: true, force: true });
  mkdirSync(part, { recursive: true, mode: 0o700 });
  if (source.kind === 'commit') await checkOut(source.value, part, options);
  else copyFolder(source.value, part);
  if (!existsSync(join(part, MANIFEST))) {
    rmSync(part, { recursive: true, force: true });
    throw new SvcError('refused', await withoutManifest(source, options), { hint: MANIFEST_HINT });
  }
  // A configuration that is not part of the code stays as it is.
  if (!existsSync(join(part, CONFIG_FILE))) cpSync(join(project, CONFIG_FILE), join(part, CONFIG_FILE));
  renameSync(part, target);
  return target;
}

export const MANIFEST_HINT =
  'add package.json, and package-lock.json beside it, to the new code; then run the command again';

/** Says where package.json was looked for. */
export async function withoutManifest({ kind, value }: Source, options: TreeOptions): Promise<string> {
  const below = kind === 'commit' ? await folderInRepository(options) : '';
  const where = kind === 'commit' ? `commit ${value.slice(0, 12)}${below === '' ? '' : `, in ${below}`}` : value;
  return `there is no ${MANIFEST} in ${where}: without it npm would install into the project that serves`;
}

/** The files of a commit. git writes each with its whole path in the repository; those of a project below its root are moved up. */
async function checkOut(commit: string, target: string, options: TreeOptions): Promise<void> {
  const below = await folderInRepository(options);
  const whole = below === '' ? target : join(target, '.git'); // no commit has a file of this name
  const done = await withIndexOf({ commit, file: `${target}.index` }, options, (of) =>
    git(of, ['checkout-index', '--all', `--prefix=${whole}/`]),
  );
  if (done === undefined || done.failed)
    throw new SvcError(
      'refused',
      `git cannot write the files of ${commit}: ${done?.stderr ?? 'it has no such commit'}`,
      {
        hint: `nothing was changed; git fsck, and git ls-tree ${commit.slice(0, 12)}, say more`,
      },
    );
  if (below === '') return;
  const from = join(whole, below);
  for (const entry of existsSync(from) ? readdirSync(from) : []) renameSync(join(from, entry), join(target, entry));
  rmSync(whole, { recursive: true, force: true });
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
 * SHA-256 over paths and contents: it tells whether a tree still is the one that was checked. Of installed packages it has what npm noted of them, and
 * their names. A configuration that comes from the project is no part of it: it is taken anew at the exchange.
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
  hash.update(packageNames(join(folder, MODULES)).join('\0'));
  if (existsSync(join(folder, INSTALLED))) hash.update(readFileSync(join(folder, INSTALLED)));
  return hash.digest('hex');
}

/** Tools keep their caches under names with a dot. */
function packageNames(modules: string): readonly string[] {
  if (!existsSync(modules)) return [];
  return readdirSync(modules)
    .filter((name) => !name.startsWith('.'))
    .flatMap((name) =>
      name.startsWith('@') ? readdirSync(join(modules, name)).map((one) => `${name}/${one}`) : [name],
    )
    .sort();
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

/** The same of new code that is not there yet. Null for an image too: its own container knows it. */
export async function lockfileOfSource({ kind, value }: Source, options: TreeOptions): Promise<string | null> {
  if (kind !== 'commit') return kind === 'folder' ? lockfileOf(value) : null;
  const { stdout, failed } = await git(options, ['cat-file', '--filters', `${value}:./${LOCKFILE}`], { isWhole: true });
  return failed ? null : createHash('sha256').update(stdout).digest('hex');
}

/** The command line of the svc that is installed in a tree; undefined where none is. */
export function installedCli(folder: string): string | undefined {
  const cli = join(folder, MODULES, 'svc', 'dist', 'cli.js');
  return existsSync(cli) ? cli : undefined;
}

const hasFile = async (name: string, { kind, value }: Source, options: TreeOptions): Promise<boolean> =>
  kind === 'commit'
    ? !(await git(options, ['cat-file', '-e', `${value}:./${name}`])).failed
    : existsSync(join(value, name));

const hasConfig = (source: Source, options: TreeOptions): Promise<boolean> => hasFile(CONFIG_FILE, source, options);

export const hasManifest = (source: Source, options: TreeOptions): Promise<boolean> =>
  hasFile(MANIFEST, source, options);

/** A configuration that the source does not have is that of the project, as it is now. It is on the disk then. */
export async function takePresentConfig(next: string, source: Source, options: TreeOptions): Promise<void> {
  if (await hasConfig(source, options)) return;
  cpSync(join(options.project, CONFIG_FILE), join(next, CONFIG_FILE));
  syncTree(join(next, CONFIG_FILE));
  syncFolder(next);
}
