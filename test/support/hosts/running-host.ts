// The whole host as a process of its own: dist/cli.js runtime start in the foreground, on a port that stays the same over restarts.
import { type ChildProcess, spawn } from 'node:child_process';
import { freePort } from '../free-port.ts';
import { foregroundArgs } from '../process/built-svc.ts';
import { type Cleanup, type TemporaryProject, temporaryProject } from '../temporary-project.ts';
import { until } from '../until.ts';

export interface RunningHostOptions {
  /** Options of Node. */
  readonly nodeOptions?: readonly string[];
  readonly plugins: Readonly<Record<string, unknown>>;
  readonly env?: Readonly<Record<string, string>>;
  /** Variables of the process alone. */
  readonly processEnv?: Readonly<Record<string, string>>;
  /** More keys of `http`. */
  readonly http?: Readonly<Record<string, unknown>>;
  /** More keys of the configuration. */
  readonly config?: Readonly<Record<string, unknown>>;
  /** File descriptors that the process may have. */
  readonly files?: number;
  /** Source text by path below the project's plugins/. */
  readonly sources?: Readonly<Record<string, string>>;
}

export interface RunningHost {
  readonly project: TemporaryProject;
  readonly url: string;
  /** Everything the host wrote, of all its processes. */
  readonly output: () => string;
  /** Of the process that runs, or ran last. */
  readonly pid: () => number;
  /** JSON of a GET with the full token. */
  get(path: string): Promise<unknown>;
  /** Resolves when the host is up. */
  start(): Promise<void>;
  /** SIGTERM, or SIGKILL; resolves when the process is gone. */
  stop(signal?: 'SIGTERM' | 'SIGKILL'): Promise<void>;
}

export async function runningHost(
  t: Cleanup,
  { plugins, nodeOptions = [], env = {}, processEnv = {}, http = {}, config = {}, files, sources }: RunningHostOptions,
): Promise<RunningHost> {
  const port = await freePort();
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a reference of the configuration
  const project = temporaryProject(t, {
    // Whoever kills it again and again does so on purpose: nothing that was in hand is to blame, and waits long.
    config: { inbox: { quarantineSeconds: 1 }, ...config, http: { port, token: '${HTTP_TOKEN}', ...http }, plugins },
    env,
    ...(sources === undefined ? {} : { plugins: sources }),
  });
  const url = `http://127.0.0.1:${port}/`;
  let output = '';
  let running: ChildProcess | undefined;
  let pid = 0;
  const stop = async (signal: 'SIGTERM' | 'SIGKILL' = 'SIGTERM'): Promise<void> => {
    const host = running;
    running = undefined;
    if (host === undefined || host.exitCode !== null || host.signalCode !== null) return;
    const gone = new Promise((resolve) => host.once('exit', resolve));
    host.kill(signal);
    await gone;
  };
  const start = async (): Promise<void> => {
    const node = [process.execPath, ...nodeOptions, ...foregroundArgs(project.path)];
    const [program = '', ...args] =
      files === undefined ? node : ['sh', '-c', `ulimit -n ${files}; exec "$@"`, '', ...node];
    const host = spawn(program, args, {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ...processEnv },
    });
    running = host;
    pid = host.pid ?? 0;
    for (const stream of [host.stdout, host.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text;
      });
    const ended = (): number | string | null => host.exitCode ?? host.signalCode;
    const headers = { authorization: `Bearer ${project.token}` };
    // A probe is answered before the host is up.
    await until(async () => ended() !== null || (await fetch(`${url}api/system/status`, { headers })).ok, {
      what: 'the host to be up',
      everyMs: 25,
    });
    if (ended() !== null) throw new Error(`the host ended with ${ended()}:\n${output}`);
  };
  t.after(() => stop('SIGKILL'));
  await start();
  const get = async (path: string): Promise<unknown> =>
    (await fetch(url + path, { headers: { authorization: `Bearer ${project.token}` } })).json();
  return { project, url, output: () => output, pid: () => pid, get, start, stop };
}
