// The built command `svc` as a process: what it prints and how it ends.
import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RuntimeStatus } from '../../shared/api/control.ts';
import { identify, isAlive } from '../../shared/process/process-identity.ts';
import { freePort } from './free-port.ts';
import { CLI } from './process/built-svc.ts';
import { ask, killIfThere, lives } from './process/supervised.ts';
import {
  type Cleanup,
  type TemporaryProject,
  type TemporaryProjectOptions,
  temporaryProject,
} from './temporary-project.ts';
import { until } from './until.ts';

export { CLI };

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface SvcOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** As root: the user to run as. */
  readonly user?: number;
}

/** Runs a command to its end. */
export function svc(args: readonly string[], options: SvcOptions = {}): Promise<Ended> {
  return startSvc(args, options).ended;
}

export interface StartedSvc {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
  readonly output: () => string;
}

export const startSvc = (args: readonly string[], options: SvcOptions = {}): StartedSvc =>
  startProgram(CLI, args, options);

const PATIENCE_SECONDS = '120';

/** A host has 20 s to be ready, which a machine with others to serve may need for itself. */
const patient = (args: readonly string[]): readonly string[] => {
  const [noun, verb] = args;
  const isWaiting = noun === 'runtime' && (verb === 'restart' || (verb === 'start' && args.includes('--daemon')));
  return isWaiting && !args.includes('--timeout') ? [...args, '--timeout', PATIENCE_SECONDS] : args;
};

/** Another copy of the built command. */
export function startProgram(cli: string, args: readonly string[], { cwd, env = {}, user }: SvcOptions): StartedSvc {
  const child = spawn(process.execPath, [cli, ...patient(args)], {
    cwd,
    env: { PATH: process.env['PATH'], HOME: '/nonexistent', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(user === undefined ? {} : { uid: user, gid: user }),
  });
  const text = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]?.setEncoding('utf8').on('data', (chunk: string) => {
      text[name] += chunk;
    });
  }
  const ended = new Promise<Ended>((resolve) => child.once('close', (code) => resolve({ code, ...text })));
  return { child, ended, output: () => text.stdout + text.stderr };
}

/** A project with a port of its own; whatever runs in it ends with the test. */
export async function portProject(
  t: Cleanup,
  options: TemporaryProjectOptions & { readonly keys?: Readonly<Record<string, unknown>> } = {},
): Promise<TemporaryProject & { readonly port: number; readonly url: string }> {
  const port = await freePort();
  // Hooks run in the order in which they were made: what runs here is found by records that lie in the project.
  let made: TemporaryProject | undefined;
  t.after(() => (made === undefined ? undefined : endAll(made)));
  const project = temporaryProject(t, {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a reference of the configuration
    config: { http: { port, token: '${HTTP_TOKEN}' }, plugins: { sandbox: {}, echo: {} }, ...options.keys },
    ...options,
  });
  made = project;
  return { ...project, port, url: `http://127.0.0.1:${port}` };
}

export { freePort };

/** Asked of the host itself: a command would cost a process each time. */
export async function untilReady(url: string): Promise<void> {
  await until(async () => (await fetch(`${url}/pub/ready`)).ok, { what: 'the host to be ready' });
}

/** What the supervisor of a project tells of it, asked at its socket: a command would cost a process each time. */
export const supervisorStatus = async ({ paths }: Pick<TemporaryProject, 'paths'>): Promise<RuntimeStatus> =>
  (await ask(join(paths.stateDir, 'control.sock'), 'status')) as RuntimeStatus;

/** The next worker, once it is ready. */
export const untilReplaced = (project: Pick<TemporaryProject, 'paths'>, former: number): Promise<RuntimeStatus> =>
  until(async () => [await supervisorStatus(project)].find(({ pid, ready }) => ready && pid !== former), {
    what: 'the next worker',
  });

/** Kills by the identities that the project's own records name: a pid alone could be somebody else's by now. */
async function endAll({ paths }: TemporaryProject): Promise<void> {
  const supervisor = read(paths.supervisorRecord)?.['supervisor'] as
    | { pid: number; start: string; boot: string }
    | undefined;
  const worker = read(paths.workerRecord) as { pid: number; start: string; boot: string } | undefined;
  for (const identity of [supervisor, worker]) {
    if (identity === undefined || !isAlive(identity)) continue;
    killIfThere(identity.pid);
    await until(() => !lives(identity.pid) || identify(identity.pid)?.start !== identity.start, {
      what: `the end of pid ${identity.pid}`,
    });
  }
}

/** A process that ends may take its record along. */
function read(path: string): Readonly<Record<string, unknown>> | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return undefined;
  }
}
