// Which project a command is about: `--project DIR`, else the nearest parent folder that holds svc.config.yml.
import { existsSync, realpathSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { linkTarget } from '../../shared/config/small-file.ts';
import { CONFIG_FILE } from '../../shared/paths.ts';
import { SvcError } from '../../shared/svc-error.ts';

/** The real path of the project. Throws `no_project`. */
export function findProject(cwd: string, given: string | undefined): string {
  if (given !== undefined) {
    const folder = resolve(cwd, given);
    if (!holdsConfig(folder))
      throw new SvcError('no_project', `${folder} holds no ${CONFIG_FILE}`, { hint: 'svc init makes a project' });
    return realpathSync(folder);
  }
  for (let folder = resolve(cwd); ; folder = dirname(folder)) {
    if (holdsConfig(folder)) return realpathSync(folder);
    if (folder === dirname(folder))
      throw new SvcError('no_project', `neither ${cwd} nor a folder above it holds ${CONFIG_FILE}`, {
        hint: 'give it with --project DIR, or make one with `svc init`',
      });
  }
}

/** A link to nowhere counts: whoever reads it says so, and no folder above is taken in its place. */
function holdsConfig(folder: string): boolean {
  const file = join(folder, CONFIG_FILE);
  return existsSync(file) || linkTarget(file) !== undefined;
}
