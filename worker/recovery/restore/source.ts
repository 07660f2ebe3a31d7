// Where the state comes from: a checkpoint, or a replaced state that an undo brings back.
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { readOwnFile } from '../../../shared/files/own-file.ts';
import { projectPaths } from '../../../shared/files/paths.ts';
import { CHECKPOINT_FILES, CHECKPOINT_NAME, checkpointFolder, SHARED_FILES } from '../../../shared/recovery/layout.ts';
import { type Manifest, readManifest } from '../../../shared/recovery/manifest.ts';
import { storedCheckpoints } from '../../../shared/recovery/stored-checkpoints.ts';
import type { Database } from '../../../shared/sqlite.ts';
import { messageOf, SvcError } from '../../../shared/svc-error.ts';
import { refuseNewer } from '../../database/migrate.ts';

export interface SourcePart {
  /** Name in the folder. */
  readonly path: string;
  readonly bytes: number;
  /** Undefined: nothing to compare with. */
  readonly sha256: string | undefined;
}

export interface Source {
  readonly purpose: 'restore' | 'undo';
  /** `c12`, or `s3`. */
  readonly name: string;
  readonly id: string;
  readonly createdAt: string;
  readonly folder: string;
  /** Database, journal, catalog and jobs. */
  readonly parts: readonly SourcePart[];
  /** Files of `data/media` by digest, with their path. */
  readonly media: readonly { readonly sha256: string; readonly path: string }[];
  /** Undefined for a replaced state. */
  readonly manifest: Manifest | undefined;
}

/** Throws `not_found`, `checkpoint_damaged`, `schema_newer` and `refused`. */
export function checkpointSource(project: string, name: string): Source {
  if (!CHECKPOINT_NAME.test(name))
    throw new SvcError('usage', `${name} is no name of a checkpoint: they are like c12`, {
      hint: 'svc checkpoint list',
    });
  const folder = checkpointFolder(project, name);
  if (!existsSync(folder))
    throw new SvcError('not_found', `there is no checkpoint ${name}`, { hint: 'svc checkpoint list' });
  const manifest = manifestOf({ project, name }, folder);
  refuseUnknown(manifest);
  const shared = join(projectPaths(project).checkpointsDir, SHARED_FILES);
  const media = manifest.parts
    .filter(({ path }) => MEDIA_PART.test(path))
    .map(({ sha256 }) => ({ sha256, path: join(shared, sha256) }));
  const parts = manifest.parts.filter(({ path }) => isOfState(path));
  if (!parts.some(({ path }) => path === CHECKPOINT_FILES.database))
    throw damaged({ project, name }, `its manifest names no ${CHECKPOINT_FILES.database}`);
  const { id, createdAt } = manifest;
  return { purpose: 'restore', name, id, createdAt, folder, parts, media, manifest };
}

function manifestOf(of: { readonly project: string; readonly name: string }, folder: string): Manifest {
  try {
    return readManifest(folder);
  } catch (error) {
    if (error instanceof SvcError && error.code === 'checkpoint_damaged') throw damaged(of, error.message, error);
    throw error;
  }
}

function refuseUnknown(manifest: Manifest): void {
  const { name, database, schema, svc } = manifest;
  if (database.dialect !== 'sqlite')
    throw new SvcError('refused', `${name} is of a ${database.dialect} database, and this project uses sqlite`, {
      hint: 'restore it where it was made, then move the data with `svc migrate`',
    });
  if (database.external !== undefined)
    throw new SvcError('refused', `the database of ${name} is kept by another tool as ${database.external}`, {
      hint: 'restore it with that tool',
    });
  try {
    refuseNewer(
      schema.migrations.map(({ id, breaking, sha256 }) => ({
        id,
        sha256,
        breaking: breaking ? 1 : 0,
        name: String(id).padStart(4, '0'),
      })),
    );
  } catch (error) {
    const { code, message } = error as SvcError;
    throw new SvcError(code, `${name} cannot be restored: ${message}`, {
      cause: error,
      hint: `install svc ${svc}, which made it, or a newer one`,
    });
  }
}

const MEDIA_PART = new RegExp(`^${SHARED_FILES}/[0-9a-f]{64}$`);
const JOURNAL_PART = new RegExp(`^${CHECKPOINT_FILES.journal}/[0-9A-Za-z_-]+\\.wjl$`);

/** The rest of a checkpoint, the project's own files, is not restored: code and configuration stay as they are. */
const isOfState = (path: string): boolean =>
  path === CHECKPOINT_FILES.database ||
  path === CHECKPOINT_FILES.catalog ||
  path === CHECKPOINT_FILES.jobs ||
  JOURNAL_PART.test(path);

/** The error of a part that is missing or wrong, of a checkpoint or of a replaced state; it names the newest checkpoint that was rehearsed. */
export function damaged(
  { project, name }: { readonly project: string; readonly name: string },
  why: string,
  cause?: unknown,
): SvcError {
  const good = storedCheckpoints(project).find((one) => one.level === 'rehearsed' && one.name !== name);
  const what = CHECKPOINT_NAME.test(name) ? 'checkpoint' : 'the replaced state';
  return new SvcError('checkpoint_damaged', `${what} ${name} is damaged: ${why}`, {
    cause,
    hint:
      good === undefined
        ? 'no other checkpoint was rehearsed; svc checkpoint list'
        : `${good.name} was rehearsed: svc checkpoint restore ${good.name}`,
  });
}

/** The error of a database in `folder` that SQLite cannot read, or that is none of svc. */
export const damagedDatabase = (
  of: { readonly project: string; readonly name: string; readonly folder: string },
  error: unknown,
): SvcError =>
  damaged(
    of,
    `${join(of.folder, CHECKPOINT_FILES.database)} is not the database that svc copied there (${messageOf(error)})`,
    error,
  );

/** Whether SQLite finds no fault in it. Reads the whole file. */
export function isSound(database: Database): boolean {
  try {
    return database.pragma('quick_check(1)', { simple: true }) === 'ok';
  } catch {
    return false;
  }
}

/** Stands beside the files of a replaced state. */
export const REPLACED_RECORD = 'replaced.json';

export interface ReplacedRecord {
  readonly id: string;
  readonly name: string;
  /** RFC 3339, UTC. */
  readonly at: string;
  /** What replaced it: `c12`, or `s3`. */
  readonly by: string;
}

/** The newest first. */
export function replacedStates(project: string): readonly ReplacedRecord[] {
  const { replacedDir } = projectPaths(project);
  if (!existsSync(replacedDir)) return [];
  return readdirSync(replacedDir)
    .filter((name) => /^s[1-9][0-9]{0,8}$/.test(name))
    .sort((one, other) => Number(other.slice(1)) - Number(one.slice(1)))
    .flatMap((name) => {
      try {
        const record = JSON.parse(readOwnFile(join(replacedDir, name, REPLACED_RECORD))) as ReplacedRecord;
        return [{ ...record, name }];
      } catch {
        return []; // not of a restore, or of one that was cut before it decided
      }
    });
}

/** The newest replaced state. Throws `not_found` where there is none that is young enough. */
export function undoSource(project: string, { now, days }: { readonly now: number; readonly days: number }): Source {
  const { replacedDir } = projectPaths(project);
  const newest = replacedStates(project).find(({ name }) =>
    existsSync(join(replacedDir, name, CHECKPOINT_FILES.database)),
  );
  if (newest === undefined)
    throw new SvcError('not_found', 'no replaced state is kept here: nothing can be undone', {
      hint: '`svc checkpoint list` names what can be restored',
    });
  const { name, at, id } = newest;
  if (now - Date.parse(at) > days * DAY_MS)
    throw new SvcError('not_found', `the newest replaced state ${name} is of ${at}, older than ${days} days`, {
      hint: 'raise recovery.replacedDays to take it back all the same',
    });
  const folder = join(replacedDir, name);
  const { database, journal } = CHECKPOINT_FILES;
  const names = [database, `${database}-wal`, CHECKPOINT_FILES.catalog, CHECKPOINT_FILES.jobs];
  const segments = existsSync(join(folder, journal))
    ? readdirSync(join(folder, journal)).map((segment) => `${journal}/${segment}`)
    : [];
  const parts = [...names, ...segments]
    .filter((path) => existsSync(join(folder, path)))
    .map((path) => ({ path, bytes: statSync(join(folder, path)).size, sha256: undefined }));
  return { purpose: 'undo', name, id, createdAt: at, folder, parts, media: [], manifest: undefined };
}

const DAY_MS = 86_400_000;
