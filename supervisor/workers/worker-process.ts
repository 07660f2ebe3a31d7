// One worker process: spawned in a group of its own with IPC, stdout and stderr on the log file, tied to the life of this process.
//
//   P1  The worker dies with its supervisor: by the kernel where `setpriv` can ask for it, else by a thread of its own; and by the end of the IPC channel.
//   P2  Its end is reported once, after the last messages of its channel, and after the end of its whole group: nothing of a run overlaps the next.
//   P3  Its environment holds no secret; those go over IPC.
import { type ChildProcess, type SendHandle, spawn } from 'node:child_process';
import { asWorkerMessage, type SupervisorMessage, type WorkerMessage } from '../../shared/api/ipc.ts';
import { certificatesInPlace } from '../../shared/process/certificates.ts';
import { kernelGuard } from '../../shared/process/parent-guard.ts';
import { identify, type ProcessIdentity } from '../../shared/process/process-identity.ts';
import type { WorkerExit } from '../machine/exit-reason.ts';
import { endGroup, signalGroup } from './process-group.ts';

export interface WorkerSpec {
  /** Arguments of Node: options, the entry file and its own arguments. */
  readonly args: readonly string[];
  readonly project: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Where stdout and stderr go. */
  readonly output: number | 'ignore';
}

export interface WorkerListener {
  message(message: WorkerMessage): void;
  /** `left`: processes of its group that nothing could end (process-group.ts). */
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
      detached: true, // a group and session of its own
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
      const group = endGroup(this.pid).catch(() => []); // its members cannot be named
      void Promise.all([group, this.#lastMessages()]).then(([left]) => this.#listener.exited({ code, signal }, left));
    });
  }

  /** A spare that became the worker. */
  reportTo(listener: WorkerListener): void {
    this.#listener = listener;
  }

  get isAlive(): boolean {
    return !this.#ended;
  }

  /** False when the channel is closed. */
  send(message: SupervisorMessage, socket?: SendHandle): boolean {
    if (this.#ended || !this.#child.connected) return false;
    try {
      this.#child.send(message, socket, () => {}); // a failed send is an end that `exit` reports
      return true;
    } catch {
      return false; // no room for it
    }
  }

  /** Over IPC, which knows of a restart; SIGTERM as well for a stop, which a worker that does not listen yet understands. */
  askStop(purpose: 'stop' | 'restart'): void {
    const told = this.send({ type: 'stop', purpose });
    if (purpose === 'stop' || !told) this.#signal('SIGTERM');
  }

  kill(): void {
    if (!this.#isThere) return; // its group is on the way, too
    signalGroup(this.pid, 'SIGKILL');
    this.#signal('SIGKILL');
  }

  /** Where there was no process, Node has the pid 0 until it tells: a signal there would go to the supervisor and its whole group. */
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

/** util-linux's setpriv makes the kernel kill the worker with its parent; it becomes the worker by exec, so the pid stays. */
function withParentGuard(program: string, args: readonly string[]): [string, readonly string[]] {
  const guard = kernelGuard();
  return guard === undefined ? [program, args] : [guard, ['--pdeathsig', 'KILL', program, ...args]];
}
