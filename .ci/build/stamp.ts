// The stamp of a build: a digest over name, size and time of every input. Equal stamp, nothing to build.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DIST, ROOT } from './output.ts';

const FOLDERS = ['shared', 'supervisor', 'worker', '.ci/build', 'test/kits/crash/kit/plants'];
const FILES = ['package.json', 'package-lock.json', 'tsconfig.json', '.ci/build.ts'];
const STAMP = join(DIST, '.stamp');

/** The digest of everything that a build reads, with the commit that the programs name. */
export function fingerprint(): string {
  const hash = createHash('sha256').update(commit());
  for (const path of [...FILES, ...FOLDERS.flatMap((folder) => filesBelow(folder))]) {
    const { size, mtimeMs } = statSync(join(ROOT, path));
    hash.update(`${path}\0${size}\0${mtimeMs}\0`);
  }
  return hash.digest('hex');
}

export const isFresh = (inputs: string): boolean => existsSync(STAMP) && readFileSync(STAMP, 'utf8') === inputs;

export const writeStamp = (inputs: string): void => writeFileSync(STAMP, inputs);

/** The commit of the tree; `unknown` outside a repository. */
export function commit(): string {
  const { status, stdout } = spawnSync('git', ['rev-parse', 'HEAD'], { cwd: ROOT, encoding: 'utf8' });
  return status === 0 ? stdout.trim() : 'unknown';
}

/** None where the folder is not there: a tree without tests is built as well. */
function filesBelow(folder: string): string[] {
  if (!existsSync(join(ROOT, folder))) return [];
  return readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(ROOT.length))
    .sort();
}
