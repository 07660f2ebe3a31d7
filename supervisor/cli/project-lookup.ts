// Which project a command is about: `--project DIR`, else the nearest parent folder that holds svc.config.yml. To see and stop a host
// its folder is one also without that file: it may have been taken away under it, and what is above would be another project.
import { existsSync, realpathSync } from 'node:fs';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { linkTarget } from '../../shared/config/checks/small-file.ts';
import { CONFIG_FILE } from '../../shared/files/paths.ts';
import { SvcError } from '../../shared/svc-error.ts';

/** Throws `no_project` where a deploy has replaced the folder that the shell still stands in. */
export function workingFolder(): string {
  try {
    return process.cwd();
  } catch (error) {
    throw new SvcError('no_project', 'the folder that this shell stands in was removed', {
      cause: error,
      hint: 'cd into the project again, or give it with --project and an absolute path',
    });
  }
}

/** The real path of the project; `isOneToo` decides of a folder without svc.config.yml. Throws `no_project`. */
export function findProject(
  from: () => string,
  given: string | undefined,
  isOneToo: (folder: string) => boolean = () => false,
): string {
  const isProject = (folder: string): boolean => holdsConfig(folder) || isOneToo(folder);
  if (given !== undefined) {
    const folder = isAbsolute(given) ? resolve(given) : resolve(from(), given);
    if (!isProject(folder))
      throw new SvcError('no_project', `${folder} holds no ${CONFIG_FILE}`, { hint: 'svc init makes a project' });
    return realpathSync(folder);
  }
  const cwd = from();
  for (let folder = resolve(cwd); ; folder = dirname(folder)) {
    if (isProject(folder)) return realpathSync(folder);
    if (folder === dirname(folder))
      throw new SvcError('no_project', `neither ${cwd} nor a folder above it holds ${CONFIG_FILE}`, {
        hint: 'give it with --project DIR, or make one with `svc init`',
      });
  }
}

/** A link to nowhere counts: whoever reads it says so, and no folder above is taken in its place. */
export function holdsConfig(folder: string): boolean {
  const file = join(folder, CONFIG_FILE);
  return existsSync(file) || linkTarget(file) !== undefined;
}
