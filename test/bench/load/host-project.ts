// A host of its own for a benchmark of whoever keeps it up: a project in a temporary folder, its worker's pid, and the same worker
// started by hand as a baseline.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { foregroundArgs } from '../../support/process/built-svc.ts';
import { lives } from '../../support/process/supervised.ts';
import { until } from '../../support/until.ts';
import { answers, freePort, ROOT, TOKEN } from './support.ts';

const WORKER = join(ROOT, 'dist/worker.js');
const READY_MS = 30_000;

export interface HostProject {
  readonly folder: string;
  readonly port: number;
  /** Of the worker that holds the project's writer lock, as its record says. */
  workerPid(): number;
  /** Waits for a worker that is another one than this, and ready. */
  readyAfter(formerPid: number): Promise<void>;
  /** SIGKILL to the first 200 of another worker, in ms. */
  killToAnswer(): Promise<number>;
  remove(): Promise<void>;
}

/** `supervisor` is a list of lines below that key of the configuration. */
export async function hostProject(supervisor: readonly string[] = []): Promise<HostProject> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-bench-kept-'));
  const port = await freePort();
  const lines = ['log_level: warn', 'http:', `  port: ${port}`, '  token: ${HTTP_TOKEN}'];
  // A second of running and the next crash is the first again: each kill is answered at once, as the first in two minutes is.
  lines.push('supervisor:', '  restarts: 100', '  windowSeconds: 1', ...supervisor.map((line) => `  ${line}`));
  lines.push('plugins:', '  sandbox: {}', '  help: {}', '  echo: {}', '  ping: {}', '  remind: {}', '');
  writeFileSync(join(folder, 'svc.config.yml'), lines.join('\n'));
  writeFileSync(join(folder, '.env'), `HTTP_TOKEN=${TOKEN}\n`, { mode: 0o600 });
  writeFileSync(join(folder, 'package.json'), '{"name":"bench"}');
  const workerPid = (): number =>
    (JSON.parse(readFileSync(join(folder, '.svc', 'worker.json'), 'utf8')) as { readonly pid: number }).pid;
  return {
    folder,
    port,
    workerPid,
    async readyAfter(formerPid) {
      await until(() => pidOr0(workerPid) !== formerPid && lives(pidOr0(workerPid)), {
        what: 'another worker',
        timeoutMs: READY_MS,
      });
      await answers(port, '/pub/ready', performance.now());
    },
    async killToAnswer() {
      const pid = workerPid();
      const killedAt = performance.now();
      process.kill(pid, 'SIGKILL');
      while (lives(pid)) await pause(0);
      return answers(port, '/pub/health', killedAt);
    },
    async remove() {
      rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
    },
  };
}

const pidOr0 = (pid: () => number): number => {
  try {
    return pid();
  } catch {
    return 0; // the record is being written
  }
};

/** Starts a host without anybody who keeps it up. */
export type ByHand = (project: HostProject) => ChildProcess;

/** The entry that the supervisor starts, started by this process. */
export const workerByHand: ByHand = ({ folder }) => {
  const args = [WORKER, '--supervised', '--parent', String(process.pid), '--project', folder, '--mode', 'production'];
  const child = spawn(process.execPath, args, { cwd: folder, stdio: ['ignore', 'ignore', 'ignore', 'ipc'] });
  child.on('message', (message) => {
    if (typeof message !== 'object' || !('type' in message) || message.type !== 'hello') return;
    const previous = { end: 'first', code: null, signal: null, detail: null };
    child.send({ type: 'welcome', protocol: 1, capabilities: [], environment: {}, previous, run: 1, listen: null });
  });
  return child;
};

/** The command in the foreground, which other process managers run. */
export const foregroundByHand: ByHand = ({ folder }) =>
  spawn(process.execPath, foregroundArgs(folder), { cwd: folder, stdio: 'ignore' });

/** Spawn to the first 200 of a path, in ms; killed then. */
export async function startByHand(project: HostProject, byHand: ByHand, path = '/pub/health'): Promise<number> {
  const startedAt = performance.now();
  const child = byHand(project);
  const ms = await unlessEnded(child, answers(project.port, path, startedAt));
  await killed(child);
  return ms;
}

export async function killed(child: ChildProcess): Promise<void> {
  child.kill('SIGKILL');
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
}

/** What comes of it; throws when the process ends before. */
export async function unlessEnded<T>(child: ChildProcess, work: Promise<T>): Promise<T> {
  const over = new AbortController();
  const ended = once(child, 'exit', { signal: over.signal }).then(([code]) => {
    throw new Error(`the host started by hand ended with ${code}`);
  });
  try {
    return await Promise.race([work, ended]);
  } finally {
    ended.catch(() => {}); // it may end now
    over.abort();
  }
}

/** The worker drains and ends with 51. Gives the status of the answer: 409 where it knows nobody who would start it again. */
export async function restartItself({ port }: HostProject): Promise<number> {
  const url = `http://127.0.0.1:${port}/api/system/restart`;
  const { status } = await fetch(url, { method: 'POST', headers: { authorization: `Bearer ${TOKEN}` } });
  return status;
}
