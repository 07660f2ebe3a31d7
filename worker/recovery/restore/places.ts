// The files of a state: where each lies in a running project, and its name in the folder of a checkpoint or of a replaced state.
import { existsSync, realpathSync } from 'node:fs';
import { isAbsolute, join, relative, resolve } from 'node:path';
import { projectPaths } from '../../../shared/files/paths.ts';
import { JOBS_FILE } from '../../../shared/jobs/job.ts';
import { CHECKPOINT_FILES } from '../../../shared/recovery/layout.ts';

export interface Piece {
  /** In the folder of a checkpoint or of a replaced state. */
  readonly name: string;
  /** In the project; absolute. */
  readonly live: string;
}

export interface Places {
  readonly project: string;
  /** The database as the configuration names it, and the file itself. */
  readonly database: string;
  readonly databaseFile: string;
  /** Where the new state is prepared. Anything in it may be removed while no switch is pending. */
  readonly staging: string;
  /** Moved aside, as far as they exist. */
  readonly replaced: readonly Piece[];
  /** Come from the staged state, as far as they exist there. */
  readonly restored: readonly Piece[];
}

/** `database`: path in the configuration. A link stays, its target is replaced. */
export function placesOf(project: string, database: string): Places {
  const { stagingDir, workroomJournal, workroomCatalog } = projectPaths(project);
  const named = resolve(project, database);
  const file = existsSync(named) ? realpathSync(named) : named;
  const name = CHECKPOINT_FILES.database;
  const restored: readonly Piece[] = [
    { name, live: file },
    { name: CHECKPOINT_FILES.journal, live: workroomJournal },
    { name: CHECKPOINT_FILES.catalog, live: workroomCatalog },
    { name: CHECKPOINT_FILES.jobs, live: join(project, JOBS_FILE) },
  ];
  const beside = ['-wal', '-shm', '-wal.new'].map((suffix) => ({ name: `${name}${suffix}`, live: `${file}${suffix}` }));
  const known = { name: `${name}.known`, live: `${named}.known` };
  return {
    project,
    database: named,
    databaseFile: file,
    staging: stagingDir,
    replaced: [...restored, ...beside, known],
    restored,
  };
}

/** As a switch names it: relative to the project where it lies in there. */
export function switchPath(project: string, path: string): string {
  const inside = relative(project, path);
  return inside.startsWith('..') || isAbsolute(inside) ? path : inside;
}
