// A project for `svc deploy init`, and the command's run in it.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { command } from '../../../supervisor/cli/commands/deploy.ts';
import { INIT_START } from '../../../supervisor/cli/deploy/project.ts';
import type { Cleanup } from '../temporary-project.ts';
import { commandContext } from './command-context.ts';
import { emptyFolder } from './init-run.ts';

export interface DeployChanges {
  readonly name?: string;
  readonly scripts?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  /** The entry of svc in the lockfile. */
  readonly locked?: Readonly<Record<string, unknown>>;
  /** Undefined: none is there. */
  readonly lockfile?: undefined;
  readonly config?: string;
}

const CONFIG = `http:
  host: \${HTTP_HOST:-127.0.0.1}
  port: \${HTTP_PORT:-8068}
  token: \${HTTP_TOKEN}
plugins:
  ping: {}
`;

/** A project as `svc init` makes it, without its packages. */
export function deployFolder(t: Cleanup, changes: DeployChanges = {}): string {
  const folder = join(emptyFolder(t), 'bot');
  mkdirSync(folder);
  const dependencies = { svc: '1.0.0' };
  const name = changes.name ?? '@acme/My_Bot';
  const manifest = {
    name,
    version: '0.1.0',
    scripts: changes.scripts ?? { build: 'tsc -p .', start: INIT_START },
    dependencies: changes.dependencies ?? dependencies,
  };
  const packages = { '': { name, dependencies }, 'node_modules/svc': { version: '1.0.0', ...changes.locked } };
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
  if (!('lockfile' in changes))
    writeFileSync(join(folder, 'package-lock.json'), JSON.stringify({ lockfileVersion: 3, packages }));
  writeFileSync(join(folder, 'svc.config.yml'), changes.config ?? CONFIG);
  return folder;
}

interface Answer {
  readonly files: readonly { readonly path: string; readonly action: string; readonly backup?: string }[];
  readonly next: readonly string[];
  readonly notes: readonly string[];
}

export async function runDeploy(folder: string, target: string, options: Readonly<Record<string, unknown>> = {}) {
  const { context, output } = commandContext({ cwd: folder, json: true });
  await command.run(context, [target], options);
  const { files, next, notes } = output.documents.at(-1) as Answer;
  return {
    actions: Object.fromEntries(files.map(({ path, action }) => [path, action])),
    backups: Object.fromEntries(files.map(({ path, backup }) => [path, backup])),
    next,
    notes,
  };
}
