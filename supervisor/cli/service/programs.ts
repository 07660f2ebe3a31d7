// Locates the programs of a service (node, svc, the package manager) and runs programs.
import { existsSync, realpathSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { ownPackage } from '../init/own-package.ts';

type Environment = Readonly<Record<string, string | undefined>>;

export interface Ran {
  /** Null if a signal ended the program or it does not exist. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program. An exit code other than 0 is a result, not an error. */
export async function runProgram(program: string, args: readonly string[], env: Environment): Promise<Ran> {
  const { execa } = await import('execa');
  const ran = await execa(program, args, { reject: false, stdin: 'ignore', env, extendEnv: false });
  const missing = ran.code === 'ENOENT' ? `${program} is not there` : '';
  return { code: ran.exitCode ?? null, stdout: ran.stdout, stderr: missing === '' ? ran.stderr : missing };
}

/** Runs a program with this command's own output. */
export async function showProgram(program: string, args: readonly string[], env: Environment): Promise<number> {
  const { execa } = await import('execa');
  const { exitCode } = await execa(program, args, { reject: false, stdio: 'inherit', env, extendEnv: false });
  return exitCode ?? 1;
}

/** The first program with that name on PATH. */
export function onPath(name: string, env: Environment): string | undefined {
  return (env['PATH'] ?? '')
    .split(delimiter)
    .filter((folder) => folder.startsWith('/'))
    .map((folder) => join(folder, name))
    .find((file) => existsSync(file));
}

/** Path of this node. Its link on PATH is preferred, because that stays valid over upgrades. */
export function nodeProgram(env: Environment): string {
  const found = onPath('node', env);
  return found !== undefined && realpathSync(found) === realpathSync(process.execPath) ? found : process.execPath;
}

/** The project's own svc if it has one, else the package of this command. */
export function commandFile(project: string): string {
  const own = join(project, 'node_modules', 'svc', 'dist', 'cli.js');
  return existsSync(own) ? own : join(ownPackage().root, 'dist', 'cli.js');
}

const MANAGERS: readonly (readonly [lockfile: string, program: string])[] = [
  ['pnpm-lock.yaml', 'pnpm'],
  ['yarn.lock', 'yarn'],
  ['bun.lock', 'bun'],
];
const SYSTEM_FOLDERS = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin'];

/** The package manager of the project, by its lockfile. */
export const packageManager = (project: string): string =>
  MANAGERS.find(([lockfile]) => existsSync(join(project, lockfile)))?.[1] ?? 'npm';

/** PATH of the service: folders of node and the package manager, and system folders. */
export function servicePath(project: string, env: Environment): string {
  const programs = [nodeProgram(env), onPath(packageManager(project), env)];
  const folders = programs.flatMap((program) => (program === undefined ? [] : [dirname(program)]));
  return [...new Set([...folders, ...SYSTEM_FOLDERS])].join(':');
}
