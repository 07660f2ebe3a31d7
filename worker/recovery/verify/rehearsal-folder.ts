// The folder in which a restore is rehearsed. One process at a time uses it; what a killed one left is removed by the next.
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { projectPaths } from '../../../shared/files/paths.ts';
import { ensureStateFolder } from '../../../shared/files/state-folder.ts';
import { Sqlite } from '../../../shared/sqlite.ts';
import { SvcError } from '../../../shared/svc-error.ts';
import { sqliteCode } from '../../database/sqlite/connection.ts';

export interface RehearsalFolder {
  /** An empty folder that stands for the project. */
  readonly path: string;
  remove(): void;
}

/** Throws `conflict` while another process rehearses. */
export function openRehearsal(project: string): RehearsalFolder {
  const { stateDir, rehearsalDir, rehearsalLock } = projectPaths(project);
  ensureStateFolder(stateDir);
  const lock = new Sqlite(rehearsalLock, { timeout: 0 });
  try {
    lock.pragma('journal_mode = MEMORY'); // nothing is ever committed
    lock.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    lock.close();
    if (sqliteCode(error)?.startsWith('SQLITE_BUSY') !== true) throw error;
    throw new SvcError('conflict', 'another process verifies a checkpoint of this project', {
      hint: 'Run the command again once it is done. `svc checkpoint list` shows its result.',
      cause: error,
    });
  }
  const remove = (): void => rmSync(rehearsalDir, { recursive: true, force: true });
  remove();
  const path = join(rehearsalDir, 'project');
  mkdirSync(path, { recursive: true, mode: 0o700 });
  return {
    path,
    remove() {
      try {
        remove();
      } finally {
        lock.close();
      }
    },
  };
}
