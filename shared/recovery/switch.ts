// A switch: renames that are decided in one file, `.svc/switch.json`, and then carried out. Restore, undo, release and rollback use it.
//
//   SWITCH-1  Before the file exists nothing has changed. Once it exists the renames happen, whoever carries them out.
//   SWITCH-2  The folders of a rename are synced before the next rename. So a later rename proves the earlier ones, also after a power cut.
//   SWITCH-3  The file is removed last. Carrying out a switch again goes on where it stopped, and never moves the new state aside.
//   SWITCH-4  Nothing opens the database while the file exists.
import { lstatSync, rmSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { stableJson, syncFolder, writeFileAtomic } from '../files/atomic-file.ts';
import { type FilePort, nodeFiles } from '../files/file-port.ts';
import { MOVED, moveAcross } from '../files/move-across.ts';
import { readOwnFile } from '../files/own-file.ts';
import { projectPaths } from '../files/paths.ts';
import { messageOf, SvcError } from '../svc-error.ts';
import { FINISH_COMMAND, pendingSwitch } from './pending-switch.ts';

const FORMAT = 'svc.switch/1';

export type SwitchPurpose = 'restore' | 'undo' | 'release' | 'rollback';
const PURPOSES: readonly string[] = ['restore', 'undo', 'release', 'rollback'] satisfies SwitchPurpose[];

/** Paths are relative to the project; an absolute one is taken as it is. */
export interface Rename {
  readonly from: string;
  readonly to: string;
}

export interface Switch {
  readonly purpose: SwitchPurpose;
  /** What the switch is about, for messages: `{ checkpoint: 'c12', replaced: 's3' }`. */
  readonly names: Readonly<Record<string, string>>;
  /** In order. First the present state moves aside, then the new state comes. No path is reached by one rename and left by a later one. */
  readonly renames: readonly Rename[];
  /** Folders that are removed behind the renames, such as the one in which the new state was prepared. */
  readonly leftovers: readonly string[];
}

export interface SwitchFiles extends FilePort {
  /** The text of a file. Throws ENOENT if there is none. */
  read(path: string): string;
  exists(path: string): boolean;
  /** Where `from` and `to` lie on different file systems. */
  moveAcross(from: string, to: string): void;
  /** Does nothing if the folder does not exist. */
  removeFolder(path: string): void;
}

const diskFiles: SwitchFiles = {
  ...nodeFiles,
  read: readOwnFile,
  // A link counts, wherever it points: it is moved as it is.
  exists: (path) => lstatSync(path, { throwIfNoEntry: false }) !== undefined,
  moveAcross,
  removeFolder: (path) => rmSync(path, { recursive: true, force: true }),
};

/**
 * The renames that are still to do. The last rename whose source is gone and whose target exists is done, and so are all before it (SWITCH-2). A target
 * that an earlier rename leaves may be the old one: then the target of that rename exists too. Pure: `exists` is asked with the paths of the switch.
 */
export function renamesLeft(renames: readonly Rename[], exists: (path: string) => boolean): readonly Rename[] {
  const aside = new Map(renames.map(({ from, to }) => [from, to]));
  const isDone = ({ from, to }: Rename): boolean => !exists(from) && exists(to) && exists(aside.get(to) ?? to);
  return renames.slice(renames.findLastIndex(isDone) + 1);
}

/** The switch that was decided and not finished. Throws `schema_newer` for the file of a newer svc, and `switch_pending` for one that cannot be read. */
export function readSwitch(project: string, files: Pick<SwitchFiles, 'read'> = diskFiles): Switch | undefined {
  const file = projectPaths(project).pendingSwitch;
  let text: string;
  try {
    text = files.read(file);
  } catch (error) {
    // Whoever opens the state says that its folder is none.
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
    throw unreadable(file, messageOf(error), error);
  }
  return parseSwitch(text, file);
}

function parseSwitch(text: string, file: string): Switch {
  let value: Readonly<Record<string, unknown>>;
  try {
    value = JSON.parse(text) as Readonly<Record<string, unknown>>;
  } catch (error) {
    throw unreadable(file, 'it is no JSON', error);
  }
  const { format, purpose, names, renames, leftovers } = value;
  if (typeof format === 'string' && format !== FORMAT)
    throw new SvcError('schema_newer', `${file} has the format ${format}; this svc knows ${FORMAT}`, {
      hint: 'use the svc that began this switch, or a newer one',
    });
  const isWhole =
    format === FORMAT &&
    PURPOSES.includes(String(purpose)) &&
    typeof names === 'object' &&
    Array.isArray(renames) &&
    renames.every(({ from, to }: Rename) => typeof from === 'string' && typeof to === 'string') &&
    Array.isArray(leftovers);
  if (!isWhole) throw unreadable(file, 'a field is missing or wrong');
  return { purpose, names, renames, leftovers } as Switch;
}

const unreadable = (file: string, why: string, cause?: unknown): SvcError =>
  new SvcError('switch_pending', `${file} cannot be read: ${why}`, {
    cause,
    hint: 'the file names the renames of a restore; put it back from a copy, or move the state by hand and remove the file',
  });

/**
 * Writes the switch: from now on it happens (SWITCH-1). Sources and the folders of targets exist already, on the disk. Throws `refused` if another
 * switch is pending.
 */
export function decideSwitch(project: string, plan: Switch, files: SwitchFiles = diskFiles): void {
  const file = projectPaths(project).pendingSwitch;
  if (files.exists(file)) throw pendingSwitch(file);
  refuseWrong(project, plan, files);
  writeFileAtomic(file, stableJson({ format: FORMAT, ...plan }), { files });
}

/** A switch that could not be carried out is never written. */
function refuseWrong(project: string, { renames }: Switch, files: SwitchFiles): void {
  const reached = new Set<string>();
  const left = new Set<string>();
  for (const { from, to } of renames) {
    const why =
      (reached.has(from) && 'was reached by an earlier rename') ||
      (left.has(from) && 'is left twice') ||
      (!files.exists(resolve(project, from)) && 'does not exist');
    if (why) throw new Error(`switch: ${from} ${why}`);
    if (reached.has(to) || (files.exists(resolve(project, to)) && !left.has(to)))
      throw new Error(`switch: ${to} exists already`);
    reached.add(to);
    left.add(from);
  }
}

export interface FinishOptions {
  readonly files?: SwitchFiles;
  /** Called after each rename, and after the last step. */
  readonly onStep?: (step: 'renamed' | 'finished') => void;
}

/**
 * Carries out the pending switch and returns it; undefined if there is none. The caller holds the writer lock. Throws `switch_pending` if a rename
 * fails: then the switch is still pending.
 */
export function finishSwitch(
  project: string,
  { files = diskFiles, onStep = () => {} }: FinishOptions = {},
): Switch | undefined {
  const pending = readSwitch(project, files);
  if (pending === undefined) return undefined;
  const at = (path: string): string => resolve(project, path);
  const file = projectPaths(project).pendingSwitch;
  try {
    const left = renamesLeft(pending.renames, (path) => files.exists(at(path)));
    const gone = left.find(({ from }) => !files.exists(at(from)));
    if (gone !== undefined) throw lost(pending, gone, file);
    for (const { from, to } of left) {
      move(at(from), at(to), files);
      onStep('renamed');
    }
    for (const { from } of pending.renames) files.removeFolder(`${at(from)}${MOVED}`);
    for (const path of pending.leftovers) files.removeFolder(at(path));
    files.remove(file);
    syncFolder(dirname(file), files);
  } catch (error) {
    throw error instanceof Error && 'syscall' in error
      ? unfinished(pending, messageOf(error), { cause: error })
      : error;
  }
  onStep('finished');
  return pending;
}

/** Returns once the rename is on the disk (SWITCH-2). */
function move(from: string, to: string, files: SwitchFiles): void {
  try {
    files.rename(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EXDEV') throw error;
    files.moveAcross(from, to);
    return;
  }
  for (const folder of new Set([dirname(to), dirname(from)])) syncFolder(folder, files);
}

const lost = (of: Switch, { from }: Rename, file: string): SvcError =>
  unfinished(of, `${from} does not exist`, {
    remedy: `put it back, then \`${FINISH_COMMAND}\`; or remove ${file} if the state is whole as it lies here`,
  });

function unfinished(
  { purpose }: Switch,
  why: string,
  { cause, remedy = remedyOf(cause) }: { readonly cause?: unknown; readonly remedy?: string },
): SvcError {
  return new SvcError('switch_pending', `a ${purpose} is decided and cannot be finished: ${why}`, {
    cause,
    hint: remedy,
  });
}

function remedyOf(error: unknown): string {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'EROFS' || code === 'EACCES' || code === 'EPERM'
    ? `the project cannot be written here: run \`${FINISH_COMMAND}\` as its owner, outside of the sandbox of the service`
    : `mend that, then \`${FINISH_COMMAND}\`, or start the host`;
}
