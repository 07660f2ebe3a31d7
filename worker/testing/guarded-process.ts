// The harness's side of `host-guard.ts`, the process that starts and ends a test host. It keeps the harness's event loop alive only while something
// is awaited. A host that was not closed therefore does not keep a failed test from ending.
import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { FromGuard, ToGuard } from './host-guard.ts';

export interface Up {
  readonly pid: number;
  readonly port: number;
}

type Ended = Extract<FromGuard, { readonly kind: 'ended' }>;

const MAX_LINES = 20_000;

export class GuardedProcess {
  readonly #guard: ChildProcess;
  readonly #gone: Promise<void>;
  readonly #lines: string[] = [];
  #rest = '';
  #up: (up: Up) => void = () => {};
  #ended: Promise<Ended> = Promise.resolve({ kind: 'ended', code: null, signal: null });
  #end: (ended: Ended) => void = () => {};
  #isRunning = false;
  #pid: number | undefined;
  #waiting = 0;

  constructor(folder: string, environment: Readonly<Record<string, string>>) {
    this.#guard = fork(programFile('host-guard'), [folder], {
      execArgv: [],
      env: environment,
      detached: true,
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    this.#guard.on('message', (message: FromGuard) => this.#hear(message));
    this.#gone = new Promise((resolve) => this.#guard.once('exit', resolve));
    void this.#gone.then(() => this.#guardIsGone());
    this.#guard.unref();
    this.#guard.channel?.unref();
  }

  get lines(): readonly string[] {
    return this.#lines;
  }

  get isRunning(): boolean {
    return this.#isRunning;
  }

  /** Resolves once the host is up, or with its end. */
  start(args: readonly string[], environment: Readonly<Record<string, string>>): Promise<Up | Ended> {
    const up = new Promise<Up>((resolve) => {
      this.#up = resolve;
    });
    this.#ended = new Promise((resolve) => {
      this.#end = resolve;
    });
    this.#isRunning = true;
    this.#tell({ kind: 'start', args, environment });
    return this.hold(Promise.race([up, this.#ended]));
  }

  /** Resolves once the host has ended; at once if none is running. */
  async stop(signal: 'SIGTERM' | 'SIGKILL', limitMs: number): Promise<void> {
    if (!this.#isRunning) return;
    this.#tell({ kind: 'signal', signal });
    const late = setTimeout(() => this.#tell({ kind: 'signal', signal: 'SIGKILL' }), limitMs);
    await this.hold(this.#ended);
    clearTimeout(late);
  }

  /** Kills the host with its children, and removes its folder. */
  async end(): Promise<void> {
    this.#tell({ kind: 'end' });
    await this.hold(this.#gone);
  }

  /** Keeps the event loop alive until `work` has settled. */
  async hold<T>(work: Promise<T>): Promise<T> {
    this.#waiting += 1;
    this.#guard.ref();
    this.#guard.channel?.ref();
    try {
      return await work;
    } finally {
      this.#waiting -= 1;
      if (this.#waiting === 0) {
        this.#guard.unref();
        this.#guard.channel?.unref();
      }
    }
  }

  #tell(message: ToGuard): void {
    if (this.#guard.connected) this.#guard.send(message);
  }

  #hear(message: FromGuard): void {
    switch (message.kind) {
      case 'output':
        return this.#hearOutput(message.text);
      case 'up':
        this.#pid = message.pid;
        return this.#up(message);
      case 'ended':
        this.#isRunning = false;
        return this.#end(message);
    }
  }

  #hearOutput(text: string): void {
    const lines = (this.#rest + text).split('\n');
    this.#rest = lines.pop() ?? '';
    this.#lines.push(...lines);
    if (this.#lines.length > MAX_LINES) this.#lines.splice(0, this.#lines.length - MAX_LINES);
  }

  /** The guard was killed and can no longer end the host, so this process does. */
  #guardIsGone(): void {
    if (!this.#isRunning) return;
    this.#isRunning = false;
    try {
      if (this.#pid !== undefined) process.kill(-this.#pid, 'SIGKILL');
    } catch {
      // the host has ended too
    }
    this.#end({ kind: 'ended', code: null, signal: 'SIGKILL' });
  }
}

/** The file is beside this bundle; when running from sources, in the build. */
function programFile(name: 'host-guard'): string {
  const folder = import.meta.url.endsWith('.ts') ? '../../dist/testing/' : './';
  return fileURLToPath(new URL(`${folder}${name}.js`, import.meta.url));
}

export const CLI_FILE = fileURLToPath(
  new URL(import.meta.url.endsWith('.ts') ? '../../dist/cli.js' : '../cli.js', import.meta.url),
);
