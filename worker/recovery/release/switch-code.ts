// Exchanges the code of a project in one switch: what is there moves to a folder of the release, the other tree comes. State, data and secrets stay.
//
// Whoever calls this has stopped the host. Afterwards its own files lie in the folder of the release, so nothing more of it may be loaded.
import { accessSync, constants, existsSync, lstatSync, mkdirSync, readdirSync } from 'node:fs';
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { readStatePlace } from '../../../shared/config/access.ts';
import { syncFolder } from '../../../shared/files/atomic-file.ts';
import { projectPaths, STAYING } from '../../../shared/files/paths.ts';
import { ensureStateFolder } from '../../../shared/files/state-folder.ts';
import { decideSwitch, finishSwitch, type Rename } from '../../../shared/recovery/switch.ts';
import { SvcError } from '../../../shared/svc-error.ts';
import { lockWriter } from '../../database/writer-lock.ts';

export interface CodeSwitch {
  readonly project: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Name of the release. */
  readonly name: string;
  /** Absolute folders: the one that the present code moves to, and the tree that comes. */
  readonly aside: string;
  readonly comes: string;
  /** Relative paths in the project that are no code of either version: they stay there. The tree that comes has nothing at these paths. */
  readonly staying: readonly string[];
}

/** The folder of a file system's own. */
const LOST_AND_FOUND = 'lost+found';
/** What lies beside a database file. */
const BESIDE_DATABASE: ReadonlySet<string> = new Set(['', '-wal', '-shm', '-wal.new', '.known']);

/** Entries of a folder that are moved. A database beside `.svc` stays, with all that belongs to it. */
function codeEntries(folder: string, { staying }: CodeSwitch, database: string | undefined): readonly string[] {
  const isDatabase = (entry: string): boolean =>
    database !== undefined && entry.startsWith(database) && BESIDE_DATABASE.has(entry.slice(database.length));
  return readdirSync(folder)
    .filter(
      (entry) => !STAYING.has(entry) && entry !== LOST_AND_FOUND && !staying.includes(entry) && !isDatabase(entry),
    )
    .sort();
}

/** What stays inside of a folder of code. */
const deepIn = ({ staying }: CodeSwitch): readonly string[] => staying.filter((path) => path.includes(sep));

/** The database's path in the project; undefined where it lies elsewhere. */
function databaseInside({ project, environment }: Pick<CodeSwitch, 'project' | 'environment'>): string | undefined {
  const { filename } = readStatePlace({ project, mode: 'development', environment });
  const path = relative(project, resolve(project, filename));
  return path === '' || path.startsWith('..') || isAbsolute(path) ? undefined : path;
}

/**
 * Throws `refused`, while the host still runs, where the exchange could not be carried out: the tree that comes is no project, an entry is a mount
 * point or belongs to somebody else, or the database lies in a folder of code.
 */
export function refuseUnmovable(of: CodeSwitch): void {
  const { project, comes } = of;
  if (!existsSync(join(comes, 'package.json')))
    throw new SvcError('refused', `${comes} holds no project: there is no code to switch to`, {
      hint: 'svc release status; nothing was changed',
    });
  const database = databaseInside(of);
  const [top = ''] = (database ?? '').split(sep);
  if (database !== undefined && database !== top && !STAYING.has(top))
    throw new SvcError('refused', `the database lies in ${top}/, which is moved with the code`, {
      hint: 'move it to .svc or out of the project (database.filename), then begin again',
    });
  const { dev } = lstatSync(project);
  const deep = deepIn(of);
  for (const entry of deep) refuseUnwritable(dirname(join(project, entry)));
  for (const entry of [...codeEntries(project, of, database), ...deep]) {
    const path = join(project, entry);
    const found = lstatSync(path);
    if (found.dev !== dev)
      throw new SvcError('refused', `${path} is a mount point, and cannot be moved with the code`, {
        hint: 'mount it below data/ or outside of the project, then begin again',
      });
    if (found.isDirectory()) refuseUnwritable(path);
  }
}

function refuseUnwritable(path: string): void {
  try {
    accessSync(path, constants.W_OK);
  } catch (error) {
    throw new SvcError('refused', `${path} cannot be moved: this user may not write there`, {
      cause: error,
      hint: 'give it to the user that the host runs as, then begin again',
    });
  }
}

/** The renames of the code, and the folder that is empty behind them. The folder for the present code is made, and on the disk. */
export function codeRenames(of: CodeSwitch): {
  readonly renames: readonly Rename[];
  readonly leftovers: readonly string[];
} {
  refuseUnmovable(of);
  const { project, aside, comes } = of;
  mkdirSync(aside, { recursive: true, mode: 0o700 });
  syncFolder(join(aside, '..'));
  const database = databaseInside(of);
  const inside = (path: string): string => relative(project, path);
  const deep = deepIn(of);
  for (const path of deep) makeFolder(dirname(path), comes);
  // Into the tree that comes first, and with it to the path that they have now.
  const stay = deep.map((path) => ({ from: path, to: inside(join(comes, path)) }));
  const left = codeEntries(project, of, database).map((entry) => ({ from: entry, to: inside(join(aside, entry)) }));
  const came = codeEntries(comes, of, database).map((entry) => ({ from: inside(join(comes, entry)), to: entry }));
  return { renames: [...stay, ...left, ...came], leftovers: [inside(comes)] };
}

/** On the disk when it returns, with all folders above it. */
function makeFolder(path: string, below: string): void {
  mkdirSync(join(below, path), { recursive: true });
  const parts = path.split(sep);
  for (let depth = parts.length; depth >= 0; depth -= 1) syncFolder(join(below, ...parts.slice(0, depth)));
}

/** Throws `already_running` and `switch_pending`. */
export function switchCode(of: CodeSwitch): void {
  const paths = projectPaths(of.project);
  ensureStateFolder(paths.stateDir);
  const lock = lockWriter(paths);
  try {
    decideSwitch(of.project, { purpose: 'release', names: { release: of.name }, ...codeRenames(of) });
    finishSwitch(of.project);
  } finally {
    lock.close();
  }
}
