// Removes checkpoints by the rules of `prune.ts`, stored files that no checkpoint needs any more, and old replaced states.
//
//   PRUNE-4  A checkpoint is renamed to `.part` first, and the rename is synced. A kill leaves the whole checkpoint, or none and a folder that the next
//            make or prune removes.
//   PRUNE-5  Stored files go last, and only those that no manifest names. Where a manifest cannot be read all stay: it may name any.
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { loadConfig } from '../../../shared/config/load.ts';
import { syncFolder } from '../../../shared/files/atomic-file.ts';
import { projectPaths } from '../../../shared/files/paths.ts';
import { type Failpoint, failpointsOf, noFailpoint } from '../../../shared/process/failpoints.ts';
import {
  checkpointFolder,
  RELEASE_NAME,
  SHARED_FILES,
  unfinished,
  verificationFile,
} from '../../../shared/recovery/layout.ts';
import { type StoredCheckpoint, storedCheckpoints } from '../../../shared/recovery/stored-checkpoints.ts';
import { oldReplaced, removeReplaced } from '../restore/remove-replaced.ts';
import { type Identity, removeCopies } from './copy-out.ts';
import { lockRecovery } from './lock.ts';
import { removeLeftovers } from './make-checkpoint.ts';
import { type KeepRules, toPrune } from './prune.ts';

export interface Pruned {
  readonly removed: readonly string[];
  readonly kept: readonly string[];
  /** States that a restore moved aside, older than `recovery.replacedDays`. */
  readonly replaced: readonly string[];
  /** Of the removed parts and states; a stored file that another checkpoint needs stays. */
  readonly bytes: number;
}

export interface PrunedHere extends Pruned {
  /** Of the removed, for their copies. One whose manifest could not be read is left out: its copy may be the better one. */
  readonly identities: readonly Identity[];
}

export interface PruneOptions {
  readonly project: string;
  readonly rules: KeepRules & { readonly replacedDays: number };
  /** Epoch milliseconds. */
  readonly now: number;
  /** Says what would go, and removes nothing. */
  readonly isDry?: boolean;
  readonly point?: Failpoint | undefined;
}

export interface StoredPruneOptions {
  readonly project: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly isDry?: boolean;
}

/** For a command: here, and in the folder of `recovery.copyTo` if it is there. Throws what the configuration throws. */
export async function pruneStored({ project, environment, isDry = false }: StoredPruneOptions): Promise<Pruned> {
  const { config } = loadConfig({ project, mode: 'development', environment, servesNothing: true });
  const { copyTo } = config.recovery;
  const point = FAILPOINTS ? failpointsOf(environment['SVC_FAILPOINTS']) : undefined;
  const { identities, ...pruned } = await pruneCheckpoints({
    project,
    rules: config.recovery,
    now: Date.now(),
    isDry,
    point,
  });
  if (copyTo !== undefined && !isDry && existsSync(resolve(project, copyTo)))
    await removeCopies({ to: resolve(project, copyTo), removed: identities });
  return pruned;
}

/** Throws `conflict` while a checkpoint is made. */
export async function pruneCheckpoints({
  project,
  rules,
  now,
  isDry = false,
  point = noFailpoint,
}: PruneOptions): Promise<PrunedHere> {
  const lock = lockRecovery(project);
  try {
    const all = storedCheckpoints(project);
    const { replacedDir } = projectPaths(project);
    const replaced = oldReplaced({ project, days: rules.replacedDays, now });
    const bytesOf = (states: readonly string[]): number =>
      states.reduce((sum, name) => sum + bytesBelow(join(replacedDir, name)), 0);
    const keptStates = entriesOf(replacedDir).filter((name) => !replaced.includes(name) && !name.endsWith('.part'));
    const names = toPrune(all.map(candidateOf), rules, {
      pinned: namedByReleases(project),
      otherBytes: bytesOf(keptStates),
    });
    const removed = new Set(names);
    const gone = all.filter(({ name }) => removed.has(name));
    const bytes = gone.reduce((sum, one) => sum + one.bytes, bytesOf(replaced));
    const identities = gone.flatMap(({ manifest }) => manifest ?? []);
    const kept = all.filter(({ name }) => !removed.has(name));
    if (!isDry) removeReplaced(project, replaced);
    if (!isDry) await remove(project, { names, kept, point });
    return { removed: names, kept: kept.map(({ name }) => name), replaced, bytes, identities };
  } finally {
    lock.release();
  }
}

const candidateOf = ({ manifest, fault: _, ...one }: StoredCheckpoint) => ({
  ...one,
  at: Date.parse(manifest?.createdAt ?? '') || 0,
  // One whose rehearsal failed for want of packages can still be restored.
  isDamaged: one.level === 'damaged',
});

async function remove(
  project: string,
  {
    names,
    kept,
    point,
  }: { readonly names: readonly string[]; readonly kept: readonly StoredCheckpoint[]; readonly point: Failpoint },
): Promise<void> {
  const { checkpointsDir } = projectPaths(project);
  for (const name of names) {
    const folder = checkpointFolder(project, name);
    renameSync(folder, unfinished(folder));
    syncFolder(checkpointsDir);
    if (FAILPOINTS) await point('prune.renamed');
    rmSync(verificationFile(project, name), { force: true });
    rmSync(unfinished(folder), { recursive: true, force: true });
  }
  removeLeftovers(project);
  removeUnnamed(join(checkpointsDir, SHARED_FILES), kept);
}

/** PRUNE-5. */
function removeUnnamed(shared: string, kept: readonly StoredCheckpoint[]): void {
  if (kept.some(({ manifest }) => manifest === undefined)) return;
  const named = new Set(kept.flatMap(({ manifest }) => manifest?.parts.map(({ path }) => path) ?? []));
  for (const file of entriesOf(shared))
    if (!named.has(`${SHARED_FILES}/${file}`)) rmSync(join(shared, file), { force: true });
}

const OVER = new Set(['finished', 'rolled_back']);

/** Restore points of releases that are not over. A record that cannot be read keeps nothing: its release cannot go on either. */
export function namedByReleases(project: string): ReadonlySet<string> {
  const { releasesDir } = projectPaths(project);
  const names = entriesOf(releasesDir).filter((name) => RELEASE_NAME.test(name));
  return new Set(
    names.flatMap((name) => {
      try {
        const record = JSON.parse(readFileSync(join(releasesDir, name, 'record.json'), 'utf8')) as {
          readonly state?: unknown;
          readonly restorePoint?: unknown;
        };
        const { state, restorePoint } = record;
        return typeof restorePoint === 'string' && !OVER.has(String(state)) ? [restorePoint] : [];
      } catch {
        return [];
      }
    }),
  );
}

function bytesBelow(folder: string): number {
  return entriesOf(folder).reduce((sum, name) => {
    const path = join(folder, name);
    const stats = statSync(path, { throwIfNoEntry: false });
    return sum + (stats?.isDirectory() === true ? bytesBelow(path) : (stats?.size ?? 0));
  }, 0);
}

function entriesOf(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
