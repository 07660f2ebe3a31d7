// The home folder of this user, which not every user has: containers run user ids that /etc/passwd does not name, without HOME.
import { homedir } from 'node:os';
import { join } from 'node:path';
import { SvcError } from '../../../shared/svc-error.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** Undefined if there is none. A host needs none. */
export function homeFolder(env: Environment): string | undefined {
  const given = env['HOME'];
  if (given !== undefined && given !== '') return given;
  try {
    const found = homedir();
    return found === '' ? undefined : found;
  } catch {
    return undefined; // a user id without an entry
  }
}

/** A path below the home folder; undefined if there is none. */
export function belowHome(env: Environment, ...names: readonly string[]): string | undefined {
  const home = homeFolder(env);
  return home === undefined ? undefined : join(home, ...names);
}

/** For what is written into the home folder, by a command that is told to. */
export function needHome(folder: string | undefined): string {
  if (folder !== undefined) return folder;
  throw new SvcError('refused', `user ${process.getuid?.()} has no home folder, which holds the services of a user`, {
    hint: 'set HOME to the home folder of this user; a host runs without: svc runtime start',
  });
}
