// Makes a checkpoint: number, room, a copy of the database at one moment (the barrier), the rest, and the rename that makes it one.
//
//   CHECKPOINT-3  A folder without its final name is no checkpoint. A kill leaves `c12.part`, which the next make removes. The number is spent.
//   CHECKPOINT-4  Database, jobs file and configuration are of one moment: they are read while the copy pins its snapshot and nothing commits.
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { readFile, rename, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { syncFolder } from '../../../shared/files/atomic-file.ts';
import { projectPaths } from '../../../shared/files/paths.ts';
import { JOBS_FILE } from '../../../shared/jobs/job.ts';
import { type Failpoint, noFailpoint } from '../../../shared/process/failpoints.ts';
import { type KnownSecrets, registryOf } from '../../../shared/recovery/known-secrets.ts';
import {
  CHECKPOINT_FILES,
  checkpointFolder,
  SHARED_FILES,
  takeNumber,
  unfinished,
} from '../../../shared/recovery/layout.ts';
import type { Manifest } from '../../../shared/recovery/manifest.ts';
import { SvcError } from '../../../shared/svc-error.ts';
import type { Digest } from './checked-copy.ts';
import { syncPath } from './copied-files.ts';
import { type Finished, type FinishOptions, finishCheckpoint, keepMediaBefore } from './finish-checkpoint.ts';
import { type HeldFile, holdJournal } from './journal-files.ts';
import { lockRecovery } from './lock.ts';
import { ALWAYS } from './project-files.ts';
import { roomFor } from './synced-copy.ts';

export interface CopyStep {
  readonly target: string;
  /** Called at the barrier. Nothing may commit until it resolves, which is soon. Never rejects. */
  readonly atBarrier: () => Promise<void>;
  readonly onProgress: (copied: number, of: number) => void;
}

export interface MakeOptions {
  readonly project: string;
  readonly database: string;
  readonly reason: string | null;
  readonly zone: string;
  readonly config: { readonly version: string; readonly isRunning: boolean };
  readonly secrets: KnownSecrets;
  readonly key: string;
  readonly without: readonly string[];
  readonly now: () => number;
  /** Copies the database to `target`, synced but for its last bytes. With its digest, if it has checked the pages too. */
  readonly copy: (step: CopyStep) => Promise<{ readonly holdMs: number; readonly digest?: Digest }>;
  /** Default: in this process. */
  readonly finish?: (options: FinishOptions) => Promise<Finished>;
  /** Told once the number is taken: what can refuse a checkpoint at once has not. */
  readonly onBegun?: ((name: string) => void) | undefined;
  readonly onProgress?: ((progress: MakeProgress) => void) | undefined;
  readonly point?: Failpoint | undefined;
}

export interface MakeProgress {
  readonly name: string;
  readonly copied: number;
  readonly of: number;
}

export interface Made {
  readonly manifest: Manifest;
  readonly warnings: readonly string[];
  readonly secretHits: number;
  readonly bytes: number;
  readonly ms: number;
  readonly holdMs: number;
}

/** Throws `conflict`, `refused`, `storage_unavailable` and `database_corrupt`; then there is no new checkpoint. */
export async function makeCheckpoint(options: MakeOptions): Promise<Made> {
  const { project } = options;
  const lock = lockRecovery(project);
  try {
    refuseSecretReason(options);
    removeLeftovers(project);
    await refuseWithoutRoom(options);
    return await make(options);
  } finally {
    lock.release();
  }
}

async function make(options: MakeOptions): Promise<Made> {
  const { project, now, point = noFailpoint, finish = finishCheckpoint } = options;
  const { checkpointsDir } = projectPaths(project);
  const startedAt = performance.now();
  const name = takeNumber(project, 'checkpoint');
  options.onBegun?.(name);
  const folder = unfinished(checkpointFolder(project, name));
  try {
    mkdirSync(folder, { mode: 0o700 });
    mkdirSync(join(checkpointsDir, SHARED_FILES), { recursive: true, mode: 0o700 });
    if (FAILPOINTS) await point('checkpoint.begun');
    await keepMediaBefore(project);
    const target = join(folder, CHECKPOINT_FILES.database);
    let createdAt = '';
    let files: Readonly<Record<string, string | undefined>> = {};
    let journal: readonly HeldFile[] = [];
    const { holdMs, digest } = await options.copy({
      target,
      atBarrier: async () => {
        createdAt = new Date(now()).toISOString();
        journal = holdJournal(project, folder);
        files = await readFiles(project);
      },
      onProgress: (copied, of) => options.onProgress?.({ name, copied, of }),
    });
    await syncPath(target);
    if (FAILPOINTS) await point('checkpoint.copied');
    const { reason, zone, config, secrets, key, without, database } = options;
    const common = { project, name, folder, database, createdAt, reason, zone, config, secrets, key, without };
    const finished = await finish({ ...common, files, journal, digest });
    if (FAILPOINTS) await point('checkpoint.whole');
    await rename(folder, checkpointFolder(project, name));
    syncFolder(checkpointsDir);
    if (FAILPOINTS) await point('checkpoint.renamed');
    const bytes = finished.manifest.parts.reduce((sum, part) => sum + part.bytes, 0);
    return { ...finished, bytes, holdMs, ms: Math.round(performance.now() - startedAt) };
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw isNoRoom(error) ? noRoom(checkpointsDir, error) : error;
  }
}

/** Read at the barrier. All are small. */
async function readFiles(project: string): Promise<Readonly<Record<string, string | undefined>>> {
  const read = async (path: string) =>
    [path, await readFile(join(project, path), 'utf8').catch(() => undefined)] as const;
  return Object.fromEntries(await Promise.all([JOBS_FILE, ...ALWAYS].map(read)));
}

/** The reason stands in the manifest. */
function refuseSecretReason({ reason, secrets }: MakeOptions): void {
  if (reason !== null && registryOf(secrets.values).find(reason).length > 0)
    throw new SvcError('refused', 'the reason holds a secret: no checkpoint was made');
}

const LEFT = /^c[1-9][0-9]{0,8}(-export)?\.part$/;

/** What a killed make, prune, import or export left. The caller holds the lock, as each of them does. */
export function removeLeftovers(project: string): void {
  const { checkpointsDir } = projectPaths(project);
  for (const name of readdirSync(checkpointsDir)) if (LEFT.test(name)) removeLeft(join(checkpointsDir, name));
}

/** A file of another user, such as one that root has exported, stops nobody. */
function removeLeft(path: string): void {
  try {
    rmSync(path, { recursive: true, force: true });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'EACCES' && code !== 'EPERM') throw error;
  }
}

/** A tenth stays free. */
async function refuseWithoutRoom({ project, database }: MakeOptions): Promise<void> {
  const { checkpointsDir } = projectPaths(project);
  const needed = Math.ceil(roomFor(database) * 1.1);
  const { bavail, bsize } = await statfs(checkpointsDir);
  const free = bavail * bsize;
  if (free < needed)
    throw noRoom(
      checkpointsDir,
      undefined,
      `it needs ${needed} bytes, ${free} are free: ${needed - free} more are needed`,
    );
}

const isNoRoom = (error: unknown): boolean => {
  const { code } = error as { readonly code?: unknown };
  return code === 'ENOSPC' || code === 'EDQUOT' || code === 'SQLITE_FULL';
};

const noRoom = (folder: string, cause: unknown, why = 'the disk is full'): SvcError =>
  new SvcError('storage_unavailable', `no room for a checkpoint in ${folder}: ${why}`, {
    cause,
    hint: '`svc checkpoint prune` removes old ones; `recovery.keepLast` and `maxBytes` keep fewer',
  });
