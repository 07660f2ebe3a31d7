// The project's database for a command while the host does not answer: where it is, a read, and a change under the writer lock.
//
//   STORED-PLACE-1  A change holds the writer lock, and a start that meets the lock waits for it. If a worker holds the lock, the change is
//                   written beside the worker, through SQLite's locking, unless it has to be `alone`.
//   STORED-PLACE-2  A change is on disk before the call returns.
import { resolve } from 'node:path';
import { readStatePlace } from '../../shared/config/access.ts';
import { type ProjectPaths, projectPaths } from '../../shared/files/paths.ts';
import { ensureStateFolder } from '../../shared/files/state-folder.ts';
import { newRuntimeId, type ProjectId } from '../../shared/identifiers.ts';
import { SecretRegistry } from '../../shared/log/redaction.ts';
import { noFailpoint } from '../../shared/process/failpoints.ts';
import { refusePendingSwitch } from '../../shared/recovery/pending-switch.ts';
import type { Database } from '../../shared/sqlite.ts';
import { SvcError } from '../../shared/svc-error.ts';
import { systemClock } from '../../shared/time/clock.ts';
import type { Core } from '../core/core.ts';
import { OUTSIDE_BUSY_MS, outsideWriter } from '../database/outside-writer.ts';
import { SqliteReader } from '../database/reader.ts';
import { openReadOnly } from '../database/sqlite/connection.ts';
import { readStoredSchema } from '../database/stored-schema.ts';
import type { Writer } from '../database/unit.ts';
import { lockWriter } from '../database/writer-lock.ts';

export interface StoredPlaceOptions {
  readonly project: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

export interface StoredPlace {
  readonly file: string;
  readonly paths: ProjectPaths;
  readonly secrets: readonly string[];
  readonly failpoints: string | undefined;
}

/** Undefined if there is no database. Throws if this version of svc cannot read it. */
export function findStored({ project, environment }: StoredPlaceOptions): StoredPlace | undefined {
  refusePendingSwitch(project);
  const { filename, secrets } = readStatePlace({ project, mode: 'development', environment });
  const file = resolve(project, filename);
  const schema = readStoredSchema(file); // before SQLite opens it: closing a descriptor of the file drops this process's POSIX locks on it
  if (schema.state === 'absent') return undefined;
  if (schema.state === 'refused') throw schema.reason;
  if (schema.pending.length > 0)
    throw new SvcError('storage_unavailable', `the database lacks ${schema.pending.join(', ')} of this svc`, {
      hint: 'start the host once, which brings it up to date, or use the svc that made it',
    });
  return {
    file,
    paths: projectPaths(project),
    secrets,
    failpoints: FAILPOINTS ? environment['SVC_FAILPOINTS'] : undefined,
  };
}

export async function reading<T>(place: StoredPlace, ask: (core: Core) => Promise<T>): Promise<T> {
  refusePendingSwitch(place.paths.project);
  const reader = readerOf(place);
  try {
    return await ask(coreOver(place, reader, NO_WRITER));
  } finally {
    reader.end();
  }
}

/** Changes under the writer lock, or beside a worker that holds it. */
export const writing = <T>(place: StoredPlace, ask: (core: Core) => Promise<T>): Promise<T> =>
  under(place, lockUnlessHeld, ask);

/** Changes under the writer lock. Throws `already_running` if a live worker holds it (STORED-PLACE-1). */
export const writingAlone = <T>(place: StoredPlace, ask: (core: Core) => Promise<T>): Promise<T> =>
  under(place, lockWriter, ask);

async function under<T>(
  place: StoredPlace,
  take: (paths: ProjectPaths) => Database | undefined,
  ask: (core: Core) => Promise<T>,
): Promise<T> {
  process.umask(0o077); // as in a worker: new files are private to this user
  ensureStateFolder(place.paths.stateDir);
  const lock = take(place.paths);
  const reader = readerOf(place);
  try {
    const writer = await outsideWriter({ ...place, reader, isAlone: lock !== undefined });
    return await ask(coreOver(place, reader, writer));
  } finally {
    reader.end();
    lock?.close();
  }
}

const readerOf = ({ file }: StoredPlace): SqliteReader => new SqliteReader(() => openReadOnly(file, OUTSIDE_BUSY_MS));

/** Undefined if a live worker holds the lock. */
function lockUnlessHeld(paths: ProjectPaths): Database | undefined {
  try {
    return lockWriter(paths);
  } catch (error) {
    if (error instanceof SvcError && error.code === 'already_running') return undefined;
    throw error;
  }
}

function coreOver({ secrets: known }: StoredPlace, reader: SqliteReader, writer: Writer): Core {
  const secrets = new SecretRegistry();
  secrets.add(known);
  return {
    runtimeId: newRuntimeId(),
    projectId: '' as ProjectId,
    clock: systemClock,
    writer,
    reader,
    log: SILENT,
    mask: (text) => secrets.mask(text),
    point: noFailpoint,
  };
}

const nothing = (): void => {};
const SILENT = { debug: nothing, info: nothing, warn: nothing, error: nothing };
const NO_WRITER: Writer = {
  commit: () => Promise.reject(new Error('this connection only reads')),
  onHead: () => nothing,
};
