// `svc init`, run as the CLI runs it, in a folder of its own.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { command } from '../../../supervisor/cli/commands/init.ts';
import { type Cleanup, temporaryProject } from '../temporary-project.ts';
import { commandContext, type Output } from './command-context.ts';

/** Without npm. */
export const QUICK = { lockfile: false, svc: '^0.1.0' };

export interface InitRun {
  readonly folder: string;
  readonly output: Output;
  readonly exit: number;
  readonly read: (name: string) => string;
}

interface Options {
  readonly folder?: string;
  readonly options?: Readonly<Record<string, unknown>>;
  readonly env?: Readonly<Record<string, string>>;
  readonly json?: boolean;
}

export async function init(
  t: Cleanup,
  { folder = emptyFolder(t), options = {}, env = {}, json = false }: Options = {},
): Promise<InitRun> {
  const { context, output } = commandContext({
    cwd: folder,
    json,
    env: { PATH: process.env['PATH'], HOME: folder, ...env },
  });
  const exit = await command.run(context, ['my-bot'], { ...QUICK, ...options });
  return {
    folder: join(folder, 'my-bot'),
    output,
    exit,
    read: (name) => readFileSync(join(folder, 'my-bot', name), 'utf8'),
  };
}

/** Blanks and a letter beyond ASCII are in the path of every test. */
export const emptyFolder = (t: Cleanup): string => temporaryProject(t, { config: null, prefix: 'svc init ü-' }).path;
