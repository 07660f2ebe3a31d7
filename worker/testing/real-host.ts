// A test host of a harness. Its process belongs to the guard, a process that ends the host with the harness.
import type { ReadinessReport } from '../../shared/api/serving/readiness.ts';
import { processEnvironment } from '../../shared/config/environment.ts';
import { TEST_HOST_VARIABLE } from '../../shared/config/mode.ts';
import { CLI_FILE, GuardedProcess } from './guarded-process.ts';
import type { HostOptions, HostRequest, TestHost } from './host.ts';
import { type HostProject, makeProject } from './host-project.ts';

const START_MS = 60_000;
const STOP_MS = 12_000;
const LOOK_MS = 20;
const LAST_LINES = 15;
/** Inherited environment variables. Any other one would make the host differ between machines. */
const INHERITED = ['PATH', 'HOME', 'TMPDIR', 'TZ', 'LANG', 'LC_ALL', 'NODE_V8_COVERAGE', 'NODE_EXTRA_CA_CERTS'];

export class RealHost implements TestHost {
  readonly #options: HostOptions;
  readonly #project: HostProject;
  readonly #process: GuardedProcess;
  readonly #environment: Readonly<Record<string, string>>;
  #port = 0;
  #pid = 0;
  #closing: Promise<void> | undefined;

  static async start(options: HostOptions): Promise<RealHost> {
    const host = new RealHost(options);
    options.owner?.after(() => host.close());
    try {
      await host.#start();
      return host;
    } catch (error) {
      await host.close();
      throw error;
    }
  }

  private constructor(options: HostOptions) {
    this.#options = options;
    this.#project = makeProject(options);
    const own = processEnvironment();
    const inherited = INHERITED.flatMap((name) => (own[name] === undefined ? [] : [[name, own[name]] as const]));
    this.#environment = { ...Object.fromEntries(inherited), ...options.environment };
    this.#process = new GuardedProcess(this.#project.folder, this.#environment);
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}${this.#project.base}`;
  }
  get token(): string {
    return this.#project.token;
  }
  get project(): string {
    return this.#project.folder;
  }
  get pid(): number {
    return this.#pid;
  }

  logs(): readonly Readonly<Record<string, unknown>>[] {
    return this.#process.lines.map((line) => {
      try {
        return JSON.parse(line) as Readonly<Record<string, unknown>>;
      } catch {
        return { msg: line };
      }
    });
  }

  async request(path: string, { json, token = this.token, ...init }: HostRequest = {}): Promise<Response> {
    const headers = new Headers(init.headers);
    if (token !== null) headers.set('authorization', `Bearer ${token}`);
    if (json !== undefined) headers.set('content-type', 'application/json');
    const body = json === undefined ? {} : { body: JSON.stringify(json) };
    return this.#process.hold(fetch(this.url + path, { ...init, ...body, headers }));
  }

  async restart(): Promise<void> {
    await this.#process.stop('SIGTERM', STOP_MS);
    await this.#start();
  }

  async kill(): Promise<void> {
    await this.#process.stop('SIGKILL', STOP_MS);
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #close(): Promise<void> {
    await this.#process.stop('SIGTERM', STOP_MS);
    await this.#process.end();
  }

  async #start(): Promise<void> {
    if (this.#closing !== undefined) throw new Error('the host is closed');
    const { mode = 'test', until = 'ready', timeoutMs = START_MS } = this.#options;
    const limit = AbortSignal.timeout(timeoutMs);
    const args = [CLI_FILE, 'runtime', 'start', '--mode', mode, '--no-watch', '--project', this.project];
    const up = await Promise.race([
      this.#process.start(args, { ...this.#environment, [TEST_HOST_VARIABLE]: String(this.#port) }),
      new Promise<undefined>((resolve) => limit.addEventListener('abort', () => resolve(undefined), { once: true })),
    ]);
    if (up === undefined) throw this.#failed(`the host is not up after ${timeoutMs} ms`);
    if ('kind' in up && up.kind === 'ended') throw this.#failed(`the host ended with ${up.code ?? up.signal}`);
    const { pid, port } = up as { readonly pid: number; readonly port: number };
    this.#pid = pid;
    this.#port = port;
    if (until === 'ready') await this.#process.hold(this.#untilReady(limit, timeoutMs));
  }

  async #untilReady(limit: AbortSignal, timeoutMs: number): Promise<void> {
    for (;;) {
      const answer = await this.request('/api/system/readiness').catch(() => undefined);
      if (answer?.status === 200) return void (await answer.arrayBuffer());
      if (!this.#process.isRunning) throw this.#failed('the host ended before it was ready');
      const report = answer === undefined ? undefined : ((await answer.json()) as Partial<ReadinessReport>);
      if (limit.aborted || willNotBeReady(report))
        throw this.#failed(`the host is not ready${limit.aborted ? ` after ${timeoutMs} ms` : ''}: ${unmet(report)}`);
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
  }

  #failed(what: string): Error {
    return new Error([what, ...this.#process.lines.slice(-LAST_LINES)].join('\n'));
  }
}

/** A runtime that failed to assemble does not become ready by waiting. */
function willNotBeReady(report: Partial<ReadinessReport> | undefined): boolean {
  const missing = report?.checks?.filter(({ ready }) => !ready).map(({ component }) => component) ?? [];
  return missing.includes('runtime') && !missing.includes('database');
}

const unmet = (report: Partial<ReadinessReport> | undefined): string =>
  report?.checks
    ?.filter(({ ready }) => !ready)
    .map(({ component, reason }) => `${component}: ${reason}`)
    .join('; ') ?? JSON.stringify(report ?? 'no answer');
