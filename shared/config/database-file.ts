// Checks the path of the database: a file on disk that no other part of the host writes. Pure.
import { relative, resolve, sep } from 'node:path';
import { CONTROL_SOCKET, type ProjectPaths, WORKER_SOCKET } from '../files/paths.ts';
import type { Finding } from './fault.ts';

const PATH = '/database/filename';

export function databaseFile(filename: string | undefined, paths: ProjectPaths): Finding[] {
  if (filename === undefined) return [];
  if (/^file:|^:|\0|\/$/.test(filename))
    return [{ path: PATH, message: 'must be the path of a file: what is not on disk would be forgotten' }];
  const taken = takenBy(resolve(paths.project, filename), paths);
  if (taken === undefined) return [];
  const name = relative(paths.project, taken);
  const message = `must be a file of its own: the host keeps something else in ${name === '' ? 'the project folder' : name}`;
  return [{ path: PATH, message, suggestion: relative(paths.project, paths.database) }];
}

/** The host's path that conflicts with this file. Files named after it (rotated logs, SQLite journals) and some whole folders count, too. */
function takenBy(file: string, paths: ProjectPaths): string | undefined {
  const { project, database: _, stateDir, dataDir, ...others } = paths;
  const taken = [...Object.values(others), ...[CONTROL_SOCKET, WORKER_SOCKET].map((name) => resolve(project, name))];
  return (
    [project, stateDir, dataDir].find((path) => path === file) ??
    taken.find((path) => path === file || [sep, '.', '-'].some((next) => file.startsWith(path + next)))
  );
}
