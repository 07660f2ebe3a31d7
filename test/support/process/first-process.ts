// A command as the first process of a pid namespace, as in a container. Needs root.
import { spawn, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { CLI, type Ended } from '../svc-command.ts';
import type { Cleanup } from '../temporary-project.ts';
import { until } from '../until.ts';

const UNSHARE = ['--mount', '--pid', '--fork', '--mount-proc', '--kill-child'];

/** Why there can be none here; false where there can. Throws where there has to be one. */
export function namespaceMissing(): string | false {
  if (spawnSync('unshare', [...UNSHARE, 'true'], { stdio: 'ignore' }).status === 0) return false;
  const missing = 'unshare --pid is refused here (not root, or no Linux)';
  // biome-ignore lint/style/noProcessEnv: a switch of the test run
  if (process.env['SVC_REQUIRE_ROOT'] === '1') throw new Error(`SVC_REQUIRE_ROOT=1, but ${missing}`);
  return missing;
}

export interface First {
  /** The first process of the namespace, by its pid outside. */
  readonly pid: () => Promise<number>;
  readonly output: () => string;
  readonly ended: Promise<Ended>;
  /** SIGKILL for all of the namespace, and its end. */
  end(): Promise<void>;
}

export interface FirstOptions {
  readonly env?: Readonly<Record<string, string>>;
}

export function firstProcess(t: Cleanup, command: readonly string[], { env = {} }: FirstOptions = {}): First {
  const child = spawn('unshare', [...UNSHARE, ...command], {
    env: { PATH: process.env['PATH'], HOME: '/nonexistent', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  t.after(() => void child.kill('SIGKILL'));
  const text = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    child[name].setEncoding('utf8').on('data', (chunk: string) => {
      text[name] += chunk;
    });
  const ended = new Promise<Ended>((resolve) => child.once('close', (code) => resolve({ code, ...text })));
  const children = `/proc/${child.pid}/task/${child.pid}/children`;
  return {
    output: () => text.stdout + text.stderr,
    ended,
    async end() {
      child.kill('SIGKILL');
      await ended;
    },
    pid: async () =>
      Number((await until(() => readFileSync(children, 'utf8').trim(), { what: 'the first process' })).split(' ')[0]),
  };
}

/** The command line of a host in a container. */
export const hostCommand = (project: string): readonly string[] => [
  process.execPath,
  CLI,
  'runtime',
  'start',
  '--mode',
  'production',
  '--no-watch',
  '--project',
  project,
];

export const says = (first: First, text: string): Promise<unknown> =>
  until(() => first.output().includes(text), { what: text });
