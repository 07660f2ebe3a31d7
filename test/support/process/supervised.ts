// A supervisor of its own for a test, over a fixture worker: started as `start --daemon` does it, ended with the test.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { createConnection } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import type { ControlCommand, RuntimeStatus } from '../../../shared/api/control.ts';
import type { SupervisorSettings } from '../../../shared/api/ipc.ts';
import { SvcError } from '../../../shared/svc-error.ts';
import type { TracedStep } from '../../../supervisor/supervisor.ts';
import { removeLive } from '../disk/remove-live.ts';
import { type Cleanup, type TemporaryProject, temporaryProject } from '../temporary-project.ts';
import { until } from '../until.ts';
import { assertReplays, readTrace } from './trace.ts';

/** Limits that make a fault a matter of a second; but a machine that is busy keeps a heartbeat for seconds: who waits for silence says how long. */
export const QUICK: SupervisorSettings = {
  restarts: 5,
  windowMs: 60_000,
  upMs: 20_000,
  watchdogMs: 15_000,
  stopMs: 6_000,
  logBytes: 10_000_000,
  logFiles: 3,
  configVersion: 'sha256:test',
  host: '127.0.0.1',
  port: 0,
  delaysMs: [0, 20, 40, 80],
};

export interface SupervisedOptions {
  readonly supervisor: string;
  readonly worker: string;
  readonly project?: TemporaryProject;
  readonly settings?: Partial<SupervisorSettings>;
  readonly secrets?: Readonly<Record<string, string>>;
  /** As root: the user that all of it runs as, and that the project is given to. */
  readonly user?: number;
  /** Loads the worker without `setpriv`, as on other systems. */
  readonly environment?: Readonly<Record<string, string>>;
}

export interface Supervised {
  readonly project: TemporaryProject;
  readonly child: ChildProcess;
  /** Resolves with code and signal. */
  readonly ended: Promise<{ readonly code: number | null; readonly signal: string | null }>;
  call(command: ControlCommand | (string & {}), options?: Readonly<Record<string, unknown>>): Promise<unknown>;
  status(): Promise<RuntimeStatus>;
  /** Waits for a state of the supervisor. */
  state(name: string, timeoutMs?: number): Promise<RuntimeStatus>;
  log(): string;
  /** Every step of its machine so far; each trace is replayed at the end of its test. */
  trace(): readonly TracedStep[];
}

/** Resolves when the worker `blocks-its-loop-always` has begun to. */
export const hasBlocked = ({ project }: Pick<Supervised, 'project'>): Promise<unknown> =>
  until(() => existsSync(join(project.path, 'blocked')), { what: 'the blocked loop' });

export function startSupervisor(
  t: Cleanup,
  {
    supervisor,
    worker,
    project = temporaryProject(t),
    settings = {},
    secrets = {},
    environment = {},
    user,
  }: SupervisedOptions,
): Supervised {
  mkdirSync(project.paths.stateDir, { recursive: true, mode: 0o700 });
  // Not in the project: that is removed first.
  const traceFolder = mkdtempSync(join(tmpdir(), 'svc-t-'));
  const trace = join(traceFolder, 'trace.jsonl');
  if (user !== undefined) execFileSync('chown', ['-R', `${user}:${user}`, project.path, traceFolder]);
  const args = [supervisor, '--project', project.path, '--worker', worker, '--trace', trace];
  const child = spawn(process.execPath, args, {
    stdio: ['pipe', 'ignore', 'pipe'],
    env: { PATH: process.env['PATH'], ...environment },
    ...(user === undefined ? {} : { uid: user, gid: user }),
  });
  child.stdin?.end(JSON.stringify({ settings: { ...QUICK, ...settings }, secrets }));
  const ended = new Promise<{ code: number | null; signal: string | null }>((resolve) =>
    child.once('exit', (code, signal) => resolve({ code, signal })),
  );
  t.after(async () => {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
    await ended;
    try {
      assertReplays(readTrace(trace));
    } finally {
      removeLive(traceFolder);
    }
  });
  const call = (command: string, options?: Readonly<Record<string, unknown>>): Promise<unknown> =>
    ask(`${project.paths.stateDir}/control.sock`, command, options);
  const status = async (): Promise<RuntimeStatus> => (await call('status')) as RuntimeStatus;
  return {
    project,
    child,
    ended,
    call,
    status,
    state: (name, timeoutMs) =>
      until(
        async () => {
          const now = await status();
          return now.state === name ? now : undefined;
        },
        { what: `state ${name}`, ...(timeoutMs === undefined ? {} : { timeoutMs }) },
      ),
    log: () => (existsSync(project.paths.runtimeLog) ? readFileSync(project.paths.runtimeLog, 'utf8') : ''),
    trace: () => readTrace(trace),
  };
}

/** One request over a socket whose path may be longer than a socket's may be: `callControl` works from the project folder, a test does not. */
export async function ask(
  path: string,
  command: string,
  options?: Readonly<Record<string, unknown>>,
): Promise<unknown> {
  const short = join(mkdtempSync(join(tmpdir(), 'svc-s-')), 's');
  symlinkSync(dirname(path), short);
  try {
    return await askAt(join(short, basename(path)), command, options);
  } finally {
    rmSync(dirname(short), { recursive: true, force: true });
  }
}

function askAt(
  path: string,
  command: string,
  options: Readonly<Record<string, unknown>> | undefined,
): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const socket = createConnection(path);
    let text = '';
    socket.setEncoding('utf8');
    socket.on('connect', () =>
      socket.write(
        `${JSON.stringify({ id: 1, protocol: 1, command, ...(options === undefined ? {} : { options }) })}\n`,
      ),
    );
    socket.on('data', (chunk: string) => {
      text += chunk;
    });
    socket.on('data', () => {
      if (!text.includes('\n')) return;
      socket.destroy();
      const answer = JSON.parse(text);
      if (answer.ok) resolve(answer.result);
      else reject(new SvcError('refused', `${answer.error.code}: ${answer.error.message}`));
    });
    socket.on('error', reject);
    socket.on('close', () => reject(new Error('closed without an answer')));
  });
}

/** Signals a process that may end by itself in this very moment. */
export function killIfThere(pid: number, signal: NodeJS.Signals = 'SIGKILL'): void {
  try {
    if (pid > 0) process.kill(pid, signal);
  } catch {} // it was not there any more
}

/** Whether a process of that pid lives (not as a zombie). */
export function lives(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}
