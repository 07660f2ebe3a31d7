// A checkpoint of a host that is stopped, made by a command under the writer lock. A start waits for a short one, and is refused during a long one.
import { closeSync, existsSync, fstatSync, openSync } from 'node:fs';
import { resolve } from 'node:path';
import { loadConfig } from '../../../shared/config/load.ts';
import { projectPaths } from '../../../shared/files/paths.ts';
import { ensureStateFolder } from '../../../shared/files/state-folder.ts';
import { failpointsOf } from '../../../shared/process/failpoints.ts';
import { knownSecrets } from '../../../shared/recovery/known-secrets.ts';
import { refusePendingSwitch } from '../../../shared/recovery/pending-switch.ts';
import { messageOf, SvcError } from '../../../shared/svc-error.ts';
import { openAlone, openCopy } from '../../database/sqlite/connection.ts';
import { logFrames } from '../../database/sqlite/wal/checkpoint.ts';
import { settleLeft } from '../../database/sqlite/wal/left-log.ts';
import { readStoredSchema } from '../../database/stored-schema.ts';
import { lockWriter } from '../../database/writer-lock.ts';
import { linkKeyIn } from '../../files/file-links.ts';
import { copyOut } from './copy-out.ts';
import { type CopyStep, type Made, type MakeProgress, makeCheckpoint } from './make-checkpoint.ts';
import { copyOpened } from './synced-copy.ts';

export interface StoppedOptions {
  readonly project: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly reason: string | null;
  readonly onProgress?: ((progress: MakeProgress) => void) | undefined;
}

/** Throws what the configuration throws, `already_running` beside a worker, `switch_pending`, and `not_found` without a database. */
export async function makeStopped({ project, environment, reason, onProgress }: StoppedOptions): Promise<Made> {
  const loaded = loadConfig({ project, mode: 'development', environment, servesNothing: true });
  const database = resolve(project, loaded.config.database.filename);
  const paths = projectPaths(project);
  process.umask(0o077); // as in a worker: new files are private to this user
  refusePendingSwitch(project); // the database may be away meanwhile
  refuseAbsent(database);
  ensureStateFolder(paths.stateDir);
  const lock = lockWriter(paths);
  try {
    const schema = readStoredSchema(database);
    if (schema.state === 'refused') throw schema.reason;
    const to = loaded.config.recovery.copyTo;
    const made = await makeCheckpoint({
      project,
      database,
      reason,
      zone: loaded.config.schedule.timezone,
      config: { version: loaded.version, isRunning: false },
      secrets: knownSecrets(loaded),
      key: linkKeyIn(paths.linkKey).toString('base64url'),
      without: to === undefined ? [] : [resolve(project, to)],
      now: Date.now,
      copy: (step) => copyAlone(database, step),
      onProgress,
      point: FAILPOINTS ? failpointsOf(environment['SVC_FAILPOINTS']) : undefined,
    });
    return to === undefined ? made : await copied(made, { project, to: resolve(project, to) });
  } finally {
    lock.close();
  }
}

/** A failure is a warning: the checkpoint itself is there. */
async function copied(made: Made, of: { readonly project: string; readonly to: string }): Promise<Made> {
  try {
    await copyOut({ ...of, name: made.manifest.name });
    return made;
  } catch (error) {
    return { ...made, warnings: [...made.warnings, messageOf(error)] };
  }
}

function refuseAbsent(database: string): void {
  if (!existsSync(database))
    throw new SvcError('not_found', `there is no database at ${database}`, { hint: 'a start of the host makes one' });
}

/** Nobody else has the file open: what a crash left in the WAL is settled first, as a start does. */
async function copyAlone(
  file: string,
  { target, atBarrier, onProgress }: CopyStep,
): Promise<{ readonly holdMs: number }> {
  if (!settleLeft(file)) throw otherProgram(file);
  const database = openAlone(file);
  let descriptor: number | undefined;
  try {
    if (logFrames(database) > 0) throw otherProgram(file);
    descriptor = openSync(file, 'r');
    await atBarrier();
    const { size } = fstatSync(descriptor);
    await copyOpened({ descriptor, bytes: size, target, onProgress: (copied) => onProgress(copied, size) });
  } finally {
    database.close();
    if (descriptor !== undefined) closeSync(descriptor); // not earlier: a close drops SQLite's POSIX locks
  }
  openCopy(target).close(); // without the mark that there may be a WAL
  return { holdMs: 0 };
}

const otherProgram = (file: string): SvcError =>
  new SvcError('storage_unavailable', `another program has ${file} open`, {
    hint: 'end the program that reads or writes the database, then run the command again',
  });
