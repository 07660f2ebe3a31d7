// Writes the files of a new project: all of them or none, and never over a file that is there.
//
//   I1  Without `force` one file in the way refuses everything, before anything is written.
//   I2  With `force` a file in the way is renamed to `<name>.bak-<time>` first; its mode stays. One that is the same already is left alone.
//   I3  New files are opened exclusively: a file or link that appears meanwhile is not written through.
import { existsSync, lstatSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { linkTarget } from '../../../shared/config/checks/small-file.ts';
import { messageOf, SvcError } from '../../../shared/svc-error.ts';
import type { TemplateFile } from './templates.ts';

export interface WriteOptions {
  readonly folder: string;
  readonly force: boolean;
  /** Only says what would be done. */
  readonly dryRun: boolean;
  readonly now: number;
}

export interface WrittenFile {
  readonly path: string;
  readonly action: 'made' | 'replaced' | 'unchanged';
  /** Where the old file went. */
  readonly backup?: string;
}

/** Throws `refused` with the names of the files in the way, or with what the system refuses; `usage` when the folder is a file. */
export function writeProject(files: readonly TemplateFile[], options: WriteOptions): readonly WrittenFile[] {
  try {
    return writeAll(files, options);
  } catch (error) {
    if (error instanceof SvcError) throw error;
    throw new SvcError('refused', `${options.folder} cannot be written: ${messageOf(error)}`, { cause: error });
  }
}

function writeAll(files: readonly TemplateFile[], options: WriteOptions): readonly WrittenFile[] {
  for (const { path } of files) refuseLinkToNowhere(dirname(join(options.folder, path)));
  if (existsSync(options.folder) && !statSync(options.folder).isDirectory())
    throw new SvcError('usage', `${options.folder} is not a folder`);
  const inTheWay = files.filter((file) => isThere(join(options.folder, file.path)) && !isSame(options.folder, file));
  if (inTheWay.length > 0 && !options.force) {
    const names = inTheWay.map(({ path }) => path);
    throw new SvcError(
      'refused',
      `nothing was written: ${names.join(', ')} ${names.length === 1 ? 'is' : 'are'} there already`,
      {
        hint: 'Choose another folder, or use --force, which keeps the old files as copies.',
        details: { files: names },
      },
    );
  }
  return files.map((file) => writeOne(file, options));
}

function writeOne(file: TemplateFile, { folder, dryRun, now }: WriteOptions): WrittenFile {
  const target = join(folder, file.path);
  if (isThere(target) && isSame(folder, file)) return { path: file.path, action: 'unchanged' };
  const backup = isThere(target) ? `${file.path}.bak-${stamp(now)}` : undefined;
  if (!dryRun) {
    makeFolder(dirname(target));
    if (backup !== undefined) renameSync(target, join(folder, backup));
    writeFileSync(target, file.text, { flag: 'wx', mode: file.mode });
  }
  return backup === undefined ? { path: file.path, action: 'made' } : { path: file.path, action: 'replaced', backup };
}

/** What the system calls there already cannot be entered. Before anything is written, for that would be half a project. */
function refuseLinkToNowhere(folder: string): void {
  for (let path = folder; !existsSync(path); path = dirname(path)) {
    const target = linkTarget(path);
    if (target !== undefined)
      throw new SvcError(
        'refused',
        `nothing was written: ${path} is a symbolic link whose target is not there: ${target}`,
        { hint: 'Make the folder that it names, remove the link, or choose another folder.' },
      );
  }
}

/** With those above it. Node's own way of that never ends where the system says that a folder is not there which is (below /proc). */
function makeFolder(path: string): void {
  if (existsSync(path)) return;
  makeFolder(dirname(path));
  mkdirSync(path);
}

const stamp = (now: number): string => new Date(now).toISOString().replaceAll(/[:.]/g, '-');

/** True for links that lead nowhere, too. */
function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

function isSame(folder: string, file: TemplateFile): boolean {
  const path = join(folder, file.path);
  const stats = lstatSync(path);
  if (!stats.isFile() || stats.size !== Buffer.byteLength(file.text)) return false;
  if (file.mode === 0o600 && (stats.mode & 0o077) !== 0) return false;
  return readFileSync(path, 'utf8') === file.text;
}
