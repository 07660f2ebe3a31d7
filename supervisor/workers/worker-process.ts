// One worker process: a process group of its own, an IPC channel, and output to the log file. It cannot outlive this process.
//
//   WORKER-PROCESS-1  The worker dies with its supervisor. The kernel ensures it through `setpriv`; otherwise a thread of the worker does.
//                     The end of the IPC channel ends the worker as well.
//   WORKER-PROCESS-2  Its exit is reported once, after the channel's last messages and the end of its process group. Runs never overlap.
//   WORKER-PROCESS-3  Its environment holds no secrets. Secrets are passed over IPC.
import { type ChildProcess, type SendHandle, spawn } from 'node:child_process';
import { asWorkerMessage, type SupervisorMessage, type WorkerMessage } from '../../shared/api/ipc.ts';
import { certificatesInPlace } from '../../shared/process/certificates.ts';
import { kernelGuard } from '../../shared/process/parent-guard.ts';
import { identify, type ProcessIdentity } from '../../shared/process/process-identity.ts';
import type { WorkerExit } from '../machine/exit-reason.ts';
import { endGroup, signalGroup } from './process-group.ts';

export interface WorkerSpec {
  /** Node options, the entry file and its arguments. */
  readonly args: readonly string[];
  readonly project: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** File descriptor for stdout and stderr. */
  readonly output: number | 'ignore';
}

export interface WorkerListener {
  message(message: WorkerMessage): void;
  /** `left`: pids of the process group that SIGKILL could not end. */
  exited(exit: WorkerExit, left: readonly number[] | undefined): void;
  spawnFailed(error: NodeJS.ErrnoException): void;
}

const LAST_MESSAGES_MS = 300;

export class WorkerProcess {
  readonly pid: number;
  readonly identity: ProcessIdentity | null;
  readonly #child: ChildProcess;
  #ended = false;
  #listener: WorkerListener;

  constructor(spec: WorkerSpec, listener: WorkerListener) {
    const [program, args] = withParentGuard(process.execPath, spec.args);
    this.#child = spawn(program, args, {
      cwd: spec.project,
      env: certificatesInPlace(spec.environment),
      detached: true, // a process group and session of its own
      stdio: ['ignore', spec.output, spec.output, 'ipc'],
    });
    this.#listener = listener;
    this.pid = this.#child.pid ?? 0;
    this.identity = (this.pid > 0 ? identify(this.pid) : undefined) ?? null;
    this.#child.on('message', (value) => {
      const message = asWorkerMessage(value);
      if (message !== undefined) this.#listener.message(message);
    });
    this.#child.on('error', (error) => {
      if (this.pid === 0) this.#listener.spawnFailed(error);
    });
    this.#child.once('exit', (code, signal) => {
      this.#ended = true;
      const group = endGroup(this.pid).catch(() => []); // the remaining members cannot be listed
      void Promise.all([group, this.#lastMessages()]).then(([left]) => this.#listener.exited({ code, signal }, left));
    });
  }

  /** Called when a spare becomes the worker. */
  reportTo(listener: WorkerListener): void {
    this.#listener = listener;
  }

  get isAlive(): boolean {
    return !this.#ended;
  }

  /** Returns false if the channel is closed. */
  send(message: SupervisorMessage, socket?: SendHandle): boolean {
    if (this.#ended || !this.#child.connected) return false;
    try {
      this.#child.send(message, socket, () => {}); // the `exit` event reports a failed send
      return true;
    } catch {
      return false; // no memory or buffer for the message
    }
  }

  /** Asks over IPC, which can name a restart. A stop also sends SIGTERM, which ends a worker that does not read IPC yet. */
  askStop(purpose: 'stop' | 'restart'): void {
    const told = this.send({ type: 'stop', purpose });
    if (purpose === 'stop' || !told) this.#signal('SIGTERM');
  }

  kill(): void {
    if (!this.#isThere) return; // the end of its group is under way, too
    signalGroup(this.pid, 'SIGKILL');
    this.#signal('SIGKILL');
  }

  /** Guards against pid 0, which Node shows until it reports a failed spawn. A signal to pid 0 would hit the supervisor's own group. */
  get #isThere(): boolean {
    return !this.#ended && this.pid > 1;
  }

  #signal(signal: NodeJS.Signals): void {
    if (this.#isThere) this.#child.kill(signal);
  }

  #lastMessages(): Promise<void> {
    if (!this.#child.connected) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, LAST_MESSAGES_MS);
      this.#child.once('disconnect', () => {
        clearTimeout(timer);
        resolve();
      });
    });
  }
}

/** setpriv (util-linux) makes the kernel kill the worker with its parent. It execs the worker, so the pid stays the same. */
function withParentGuard(program: string, args: readonly string[]): [string, readonly string[]] {
  const guard = kernelGuard();
  return guard === undefined ? [program, args] : [guard, ['--pdeathsig', 'KILL', program, ...args]];
}
