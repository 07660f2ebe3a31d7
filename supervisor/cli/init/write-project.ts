// Writes the files of a new project, all or none. An existing file is never overwritten.
//
//   WRITE-PROJECT-1  Without `force` any existing file causes a refusal before a file is written.
//   WRITE-PROJECT-2  With `force` an existing file is first renamed to `<name>.bak-<time>` and keeps its mode. An identical file is left alone.
//   WRITE-PROJECT-3  New files are opened exclusively, so a file or link that appears meanwhile is not written through.
//   WRITE-PROJECT-4  A README that exists is left as it is.
import { existsSync, lstatSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { linkTarget } from '../../../shared/config/checks/small-file.ts';
import { messageOf, SvcError } from '../../../shared/svc-error.ts';
import type { TemplateFile } from './templates.ts';

export interface WriteOptions {
  readonly folder: string;
  readonly force: boolean;
  /** Only reports what would be written. */
  readonly dryRun: boolean;
  readonly now: number;
  /** What to do where files are in the way. */
  readonly remedy?: string;
}

const REMEDY = 'Choose another folder, or use --force, which keeps the old files as copies.';

export interface WrittenFile {
  readonly path: string;
  readonly action: 'made' | 'replaced' | 'unchanged';
  /** New name of the old file. */
  readonly backup?: string;
}

/** Throws `refused` with the existing files or the system's error, and `usage` if the folder is a file. */
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
  const written = files.filter((file) => file.keepsOld !== true || !isThere(join(options.folder, file.path)));
  const inTheWay = written.filter((file) => isThere(join(options.folder, file.path)) && !isSame(options.folder, file));
  if (inTheWay.length > 0 && !options.force) {
    const names = inTheWay.map(({ path }) => path);
    throw new SvcError(
      'refused',
      `nothing was written: ${names.join(', ')} ${names.length === 1 ? 'is' : 'are'} there already`,
      {
        hint: options.remedy ?? REMEDY,
        details: { files: names },
      },
    );
  }
  return written.map((file) => writeOne(file, options));
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

/** A dangling link in the path makes mkdir fail with a misleading error. Checked first, so that no half project is left. */
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

/**
 * Creates a folder and those above it. Node's recursive mkdir never returns for some paths below /proc, which reports existing folders as missing.
 */
function makeFolder(path: string): void {
  if (existsSync(path)) return;
  makeFolder(dirname(path));
  mkdirSync(path);
}

const stamp = (now: number): string => new Date(now).toISOString().replaceAll(/[:.]/g, '-');

/** True for dangling links, too. */
function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

function isSame(folder: string, file: TemplateFile): boolean {
  const path = join(folder, file.path);
  const stats = lstatSync(path);
  if (!stats.isFile() || stats.size !== Buffer.byteLength(file.text)) return false;
  if (file.mode === 0o600 && (stats.mode & 0o077) !== 0) return false;
  return readFileSync(path).equals(Buffer.from(file.text));
}
