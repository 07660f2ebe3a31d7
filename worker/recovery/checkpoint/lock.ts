// One process at a time makes, removes, exports or imports checkpoints of a project: the worker, or a command. The kernel releases the lock when its holder dies.
import { mkdirSync } from 'node:fs';
import { syncFolder } from '../../../shared/files/atomic-file.ts';
import { type ProjectPaths, projectPaths } from '../../../shared/files/paths.ts';
import { Sqlite } from '../../../shared/sqlite.ts';
import { SvcError } from '../../../shared/svc-error.ts';
import { sqliteCode } from '../../database/sqlite/connection.ts';

export interface RecoveryLock {
  release(): void;
}

/**
 * Makes the folder of the checkpoints too. Throws `conflict` where another process has the lock. `patienceMs`: waits so long for it, and blocks this
 * thread meanwhile. For a command: the host removes old checkpoints right after it has told of a new one.
 */
export function lockRecovery(project: string, { patienceMs = 0 }: { readonly patienceMs?: number } = {}): RecoveryLock {
  const paths = projectPaths(project);
  makeFolder(paths);
  const database = new Sqlite(paths.recoveryLock, { timeout: patienceMs });
  try {
    database.pragma('journal_mode = MEMORY'); // nothing is ever committed
    database.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    database.close();
    if (sqliteCode(error)?.startsWith('SQLITE_BUSY') !== true) throw unusable(paths, error);
    throw new SvcError('conflict', 'another process makes or removes a checkpoint of this project', {
      hint: '`svc checkpoint list` shows it once it is whole; then run the command again',
      cause: error,
    });
  }
  return { release: () => void database.close() };
}

function makeFolder(paths: ProjectPaths): void {
  try {
    if (mkdirSync(paths.checkpointsDir, { recursive: true, mode: 0o700 }) !== undefined) syncFolder(paths.stateDir);
  } catch (error) {
    throw unusable(paths, error);
  }
}

const unusable = ({ checkpointsDir }: ProjectPaths, cause: unknown): SvcError =>
  new SvcError('storage_unavailable', `no checkpoint can be stored in ${checkpointsDir}: ${String(cause)}`, {
    cause,
    hint: 'give the folder to the user that the host runs as',
  });
