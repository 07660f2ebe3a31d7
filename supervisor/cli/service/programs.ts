// Programs of the machine as a service needs them: where node, the command and the package manager are, and running one to its end.
import { existsSync, realpathSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { ownPackage } from '../init/own-package.ts';

type Environment = Readonly<Record<string, string | undefined>>;

export interface Ran {
  /** Null when it was ended by a signal, or is not there at all. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program; an end with another code than 0 is an answer, not an error. */
export async function runProgram(program: string, args: readonly string[], env: Environment): Promise<Ran> {
  const { execa } = await import('execa');
  const ran = await execa(program, args, { reject: false, stdin: 'ignore', env, extendEnv: false });
  const missing = ran.code === 'ENOENT' ? `${program} is not there` : '';
  return { code: ran.exitCode ?? null, stdout: ran.stdout, stderr: missing === '' ? ran.stderr : missing };
}

/** Runs a program whose output is that of this command. */
export async function showProgram(program: string, args: readonly string[], env: Environment): Promise<number> {
  const { execa } = await import('execa');
  const { exitCode } = await execa(program, args, { reject: false, stdio: 'inherit', env, extendEnv: false });
  return exitCode ?? 1;
}

/** The first program of that name on PATH. */
export function onPath(name: string, env: Environment): string | undefined {
  return (env['PATH'] ?? '')
    .split(delimiter)
    .filter((folder) => folder.startsWith('/'))
    .map((folder) => join(folder, name))
    .find((file) => existsSync(file));
}

/** This node by the name that stays when it is upgraded: its link on PATH where that leads here. */
export function nodeProgram(env: Environment): string {
  const found = onPath('node', env);
  return found !== undefined && realpathSync(found) === realpathSync(process.execPath) ? found : process.execPath;
}

/** The project's own svc where it has one, else the package that this command belongs to. */
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

/** The program that installs the project's packages, by its lockfile. */
export const packageManager = (project: string): string =>
  MANAGERS.find(([lockfile]) => existsSync(join(project, lockfile)))?.[1] ?? 'npm';

/** PATH of the service: node, the package manager, and the folders of the system. */
export function servicePath(project: string, env: Environment): string {
  const programs = [nodeProgram(env), onPath(packageManager(project), env)];
  const folders = programs.flatMap((program) => (program === undefined ? [] : [dirname(program)]));
  return [...new Set([...folders, ...SYSTEM_FOLDERS])].join(':');
}
