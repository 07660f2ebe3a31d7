// Exchanges the code of a project in one switch: what is there moves to a folder of the release, the other tree comes. State, data and secrets stay.
//
// Whoever calls this has stopped the host. Afterwards its own files lie in the folder of the release, so nothing more of it may be loaded.
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join, relative, resolve, sep } from 'node:path';
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
}

/** Entries of a project that belong to its code. A database beside `.svc` stays as well. */
function codeEntries(folder: string, database: string | undefined): readonly string[] {
  return readdirSync(folder)
    .filter((entry) => !STAYING.has(entry) && entry !== database)
    .sort();
}

/** First part of the database's path in the project; undefined where it lies elsewhere. */
function databaseEntry({ project, environment }: CodeSwitch): string | undefined {
  const { filename } = readStatePlace({ project, mode: 'development', environment });
  const [first = ''] = relative(project, resolve(project, filename)).split(sep);
  return first === '..' || first === '' ? undefined : first;
}

/** The renames of the code, and the folder that is empty behind them. The folder for the present code is made, and on the disk. */
export function codeRenames(of: CodeSwitch): {
  readonly renames: readonly Rename[];
  readonly leftovers: readonly string[];
} {
  const { project, aside, comes } = of;
  if (!existsSync(comes))
    throw new SvcError('refused', `${comes} is gone: there is no code to switch to`, { hint: 'svc release check' });
  mkdirSync(aside, { recursive: true, mode: 0o700 });
  syncFolder(join(aside, '..'));
  const database = databaseEntry(of);
  const inside = (path: string): string => relative(project, path);
  const left = codeEntries(project, database).map((entry) => ({ from: entry, to: inside(join(aside, entry)) }));
  const came = codeEntries(comes, database).map((entry) => ({ from: inside(join(comes, entry)), to: entry }));
  return { renames: [...left, ...came], leftovers: [inside(comes)] };
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
