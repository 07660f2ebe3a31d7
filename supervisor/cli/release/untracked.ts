// Files among the code that are of no version: notes, local settings, what a bot has written beside its plugin. A release deletes none of them.
//
//   UNTRACKED-1  With git: an entry, at any depth, that git does not track and that did not come with the release stays at its path, unless the other
//                code has something there. Without git nobody can tell, and all of it moves with the code. Below the root of a repository the index
//                does not follow releases, so the commit of before the release tells what is tracked.
//   UNTRACKED-2  Where code is removed that was replaced, files are kept that git neither tracks nor ignores; without git those that the project lacks.
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { stableJson, writeFileAtomic } from '../../../shared/files/atomic-file.ts';
import { CONFIG_FILE, STAYING } from '../../../shared/files/paths.ts';
import { type ReleaseRecord, releaseFolder } from '../../../shared/recovery/release-record.ts';
import { folderInRepository, git, type TreeOptions, withIndexOf } from './repository.ts';
import { entryAt, failedTree, filesBelow, isSame, MODULES } from './tree.ts';

const cameFile = (project: string, name: string): string => join(releaseFolder(project, name), 'files.json');

/** Notes the files of a tree before it becomes the code: git does not know what a build has made, nor what came from a folder. */
export function noteCame(project: string, name: string, tree: string): void {
  writeFileAtomic(cameFile(project, name), stableJson([...filesBelow(tree)].map((path) => relative(tree, path))));
}

function cameWith(project: string, name: string): readonly string[] {
  const file = cameFile(project, name);
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as string[]) : [];
}

/** UNTRACKED-1: relative paths. A folder stands for all that is in it. */
export async function stayingEntries(
  { name, comes, before }: Pick<ReleaseRecord, 'name' | 'before'> & { readonly comes: string },
  options: TreeOptions,
): Promise<readonly string[]> {
  const { stdout, failed } = await untrackedFiles({ name, before }, options);
  if (failed) return [];
  const came = cameWith(options.project, name);
  return stdout
    .split('\0')
    .map((path) => path.replace(/\/$/u, ''))
    .filter((path) => path !== '' && !STAYING.has(path.split(sep, 1)[0] ?? ''))
    .filter((path) => !came.some((file) => file === path || file.startsWith(`${path}${sep}`)))
    .filter((path) => isFree(comes, path));
}

async function untrackedFiles(
  { name, before: { commit } }: Pick<ReleaseRecord, 'name' | 'before'>,
  options: TreeOptions,
): ReturnType<typeof git> {
  const list = (of: TreeOptions) => git(of, ['ls-files', '-z', '--others', '--directory', `--exclude=${MODULES}`]);
  const isBelowRoot = (await folderInRepository(options)) !== '';
  const file = join(releaseFolder(options.project, name), 'before.index');
  const told = isBelowRoot && commit !== null ? await withIndexOf({ commit, file }, options, list) : undefined;
  return told ?? list(options);
}

/** Whether the path can be made in the tree. */
function isFree(tree: string, path: string): boolean {
  const parts = path.split(sep);
  for (let depth = 1; depth <= parts.length; depth += 1) {
    const found = entryAt(join(tree, ...parts.slice(0, depth)));
    if (found === undefined) return true;
    if (!found.isDirectory()) return false;
  }
  return false;
}

/** Removes a tree that was replaced, but for UNTRACKED-2. Returns the relative paths of those files. */
export async function removeTree(
  tree: string,
  { name, before }: Pick<ReleaseRecord, 'name' | 'before'>,
  options: TreeOptions,
): Promise<readonly string[]> {
  if (!existsSync(tree)) return [];
  const kept = await strayFiles(tree, { name, before }, options);
  removeBut(tree, new Set(kept));
  rmSync(cameFile(options.project, name), { force: true });
  return kept;
}

async function strayFiles(
  tree: string,
  { name, before }: Pick<ReleaseRecord, 'name' | 'before'>,
  options: TreeOptions,
): Promise<readonly string[]> {
  const { project } = options;
  const tracked = await trackedIn(before.commit, options);
  const isNew = tree === failedTree(project, name);
  const code = new Set([...(isNew ? cameWith(project, name) : (tracked ?? [])), CONFIG_FILE]);
  const others = [...filesBelow(tree)]
    .map((path) => relative(tree, path))
    .filter((path) => !code.has(path) && !isSame(join(tree, path), join(project, path)));
  if (tracked === undefined) return others.filter((path) => entryAt(join(project, path)) === undefined);
  const { stdout } = await git(options, ['check-ignore', '-z', '--stdin'], { input: others.join('\0') });
  const ignored = new Set(stdout.split('\0'));
  return others.filter((path) => !ignored.has(path));
}

/** Undefined without git. */
async function trackedIn(commit: string | null, options: TreeOptions): Promise<readonly string[] | undefined> {
  if (commit === null) return undefined;
  const { stdout, failed } = await git(options, ['ls-tree', '-r', '-z', '--name-only', commit]);
  return failed ? undefined : stdout.split('\0');
}

function removeBut(folder: string, kept: ReadonlySet<string>): void {
  if (kept.size === 0) return rmSync(folder, { recursive: true, force: true });
  for (const entry of readdirSync(folder)) {
    const inside = [...kept].filter((path) => path.startsWith(`${entry}${sep}`));
    if (kept.has(entry)) continue;
    removeBut(join(folder, entry), new Set(inside.map((path) => path.slice(entry.length + 1))));
  }
}
