// Finds the project of a command: `--project DIR`, else the nearest parent folder with svc.config.yml.
// Commands that show or stop a host also accept a folder without that file. The file may have been removed, and a parent would be another project.
import { existsSync, realpathSync } from 'node:fs';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { linkTarget } from '../../shared/config/checks/small-file.ts';
import { CONFIG_FILE, projectPaths } from '../../shared/files/paths.ts';
import { SvcError } from '../../shared/svc-error.ts';

/** Throws `no_project` if the shell's folder was replaced, for example by a deployment. */
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

/** The real path of the project. `isOneToo` may accept a folder without svc.config.yml. Throws `no_project`. */
export function findProject(
  from: () => string,
  given: string | undefined,
  isOneToo: (folder: string) => boolean = () => false,
): string {
  const isProject = (folder: string): boolean => holdsConfig(folder) || isInSwitch(folder) || isOneToo(folder);
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

/** A switch that was cut may have moved svc.config.yml, and the command that finishes it has to find the project. */
const isInSwitch = (folder: string): boolean => existsSync(projectPaths(folder).pendingSwitch);

/** A dangling link counts, so that its reader reports it and no parent folder is used instead. */
export function holdsConfig(folder: string): boolean {
  const file = join(folder, CONFIG_FILE);
  return existsSync(file) || linkTarget(file) !== undefined;
}
