// Removes replaced states that an undo would refuse: those older than `recovery.replacedDays`.
//
//   REPLACED-1  One without a record, or whose record has no time, stays: nothing tells that it is old.
//   REPLACED-2  While a switch is pending all stay: it may move a state into one.
//   REPLACED-3  A state is renamed to `.part` first, and the rename is synced. A kill leaves it whole, or a folder that the next prune removes.
import { existsSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { syncFolder } from '../../../shared/files/atomic-file.ts';
import { projectPaths } from '../../../shared/files/paths.ts';
import { unfinished } from '../../../shared/recovery/layout.ts';
import { lockRecovery } from '../checkpoint/lock.ts';
import { replacedStates } from './source.ts';

export interface ReplacedOptions {
  readonly project: string;
  /** `recovery.replacedDays`. */
  readonly days: number;
  /** Epoch milliseconds. */
  readonly now: number;
}

const DAY_MS = 86_400_000;
/** Also with 0 days: a restore that is under way has made its folder, and decides in a moment. */
const YOUNGEST_MS = 3_600_000;
const LEFT = /^s[1-9][0-9]{0,8}\.part$/u;

/** Names, the oldest first. Changes nothing. */
export function oldReplaced({ project, days, now }: ReplacedOptions): readonly string[] {
  if (existsSync(projectPaths(project).pendingSwitch)) return [];
  const keptMs = Math.max(days * DAY_MS, YOUNGEST_MS);
  return replacedStates(project)
    .filter(({ at }) => now - Date.parse(at) > keptMs)
    .map(({ name }) => name)
    .reverse();
}

/** Removes them under the lock of checkpoints, if there are any. Throws `conflict` while a checkpoint is made. */
export function pruneReplaced(options: ReplacedOptions): readonly string[] {
  if (oldReplaced(options).length === 0) return [];
  const lock = lockRecovery(options.project);
  try {
    const names = oldReplaced(options);
    removeReplaced(options.project, names);
    return names;
  } finally {
    lock.release();
  }
}

/** Also what a kill left of one. The caller holds the lock of checkpoints. */
export function removeReplaced(project: string, names: readonly string[]): void {
  const { replacedDir } = projectPaths(project);
  if (!existsSync(replacedDir)) return;
  for (const name of names) {
    const folder = join(replacedDir, name);
    rmSync(unfinished(folder), { recursive: true, force: true });
    renameSync(folder, unfinished(folder));
    syncFolder(replacedDir);
  }
  for (const name of readdirSync(replacedDir))
    if (LEFT.test(name)) rmSync(join(replacedDir, name), { recursive: true, force: true });
}
