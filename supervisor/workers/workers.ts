// Starts, hears and ends the supervisor's workers, one at a time. It reports events to the state machine and decides nothing.
import { join } from 'node:path';
import type { ExitRecord, ReloadResult } from '../../shared/api/control.ts';
import {
  IPC_PROTOCOL,
  type SupervisorSettings,
  WORKER_CAPABILITIES,
  type WorkerMessage,
} from '../../shared/api/ipc.ts';
import type { ProjectPaths } from '../../shared/files/paths.ts';
import { bootClock, identify, type ProcessIdentity } from '../../shared/process/process-identity.ts';
import { messageOf } from '../../shared/svc-error.ts';
import { delay } from '../../shared/time/abort.ts';
import type { History } from '../log/history.ts';
import type { RuntimeLog } from '../log/runtime-log.ts';
import type { Asides } from '../machine/aside.ts';
import type { WorkerExit } from '../machine/exit-reason.ts';
import { type Event, hasRun, type State } from '../machine/machine.ts';
import { PendingReloads } from '../machine/pending-reloads.ts';
import { limitsOf } from '../machine/settings.ts';
import type { SpareState } from '../machine/spare-machine.ts';
import type { WorkerFacts } from '../machine/status.ts';
import { codeAsked } from '../machine/steps.ts';
import { Listening } from '../socket/listening.ts';
import { remedyFor } from './end-hints.ts';
import { otherOwner } from './leftover.ts';
import { supervisedBy } from './process-group.ts';
import { Spare, type TakenSpare } from './spare.ts';
import { type WorkerListener, WorkerProcess, type WorkerSpec } from './worker-process.ts';
import { WorkerRun } from './worker-run.ts';

export interface WorkersOptions {
  readonly paths: ProjectPaths;
  readonly log: RuntimeLog;
  /** Node arguments for a worker process. */
  readonly workerArgs: readonly string[];
  /** The worker's entry file, which is one of `workerArgs`. */
  readonly workerFile: string;
  /** Environment of the worker process, without secrets. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Passed to the worker over IPC only. */
  readonly secrets: Readonly<Record<string, string>>;
  /** Used until a worker reports newer settings. */
  readonly settings: SupervisorSettings;
}

export interface WorkersHost {
  readonly history: History;
  readonly aside: Asides;
  readonly state: () => State;
  /** Never throws. */
  readonly dispatch: (event: Event, tidy?: () => void) => void;
}

const LAST_LINES = 20;
const NO_OUTPUT = { descriptor: 'ignore', from: undefined } as const;

export class Workers {
  readonly listening: Listening;
  readonly #options: WorkersOptions;
  readonly #host: WorkersHost;
  readonly #reloads = new PendingReloads();
  readonly #spec: Omit<WorkerSpec, 'output'>;
  readonly #spare: Spare;
  #settings: SupervisorSettings;
  #current: WorkerRun | undefined;
  #former: ProcessIdentity | null = null;

  constructor(options: WorkersOptions, host: WorkersHost) {
    this.#options = options;
    this.#host = host;
    this.#settings = options.settings;
    const { workerArgs, paths, environment, log } = options;
    const self = identify(process.pid);
    const named = self === undefined ? environment : { ...environment, ...supervisedBy(self) };
    this.#spec = { args: workerArgs, project: paths.project, environment: named };
    const files = [options.workerFile, paths.lockfile, join(paths.project, 'node_modules', '.package-lock.json')];
    this.#spare = new Spare({ log, spec: this.#spec, secrets: options.secrets, files, now: bootClock });
    this.listening = new Listening((message, fields) => {
      host.aside.run('write its log', () => options.log.write('warn', message, fields));
    });
  }

  /** Settings from the last worker's configuration. */
  get settings(): SupervisorSettings {
    return this.#settings;
  }
  adjust(settings: Partial<SupervisorSettings>): void {
    this.#settings = { ...this.#settings, ...settings };
    const { project } = this.#settings;
    if (project !== undefined) this.#host.aside.run('name its log', () => this.#options.log.setProject(project));
    this.#host.dispatch({ kind: 'limits', limits: limitsOf(this.#settings) });
  }
  get facts(): WorkerFacts | undefined {
    return this.#current?.facts;
  }
  get identity(): ProcessIdentity | null {
    return this.#current?.process.identity ?? null;
  }

  /** Starts the spare if there is one, else a new process. After `sharerAfterMs`, checks whether an earlier worker's process holds the socket. */
  spawn(run: number, sharerAfterMs: number | undefined): void {
    this.#start(run);
    if (sharerAfterMs === undefined) return;
    void this.#host.aside.settle('look who shares its socket', () => this.#lookForSharer(run, sharerAfterMs));
  }

  #start(run: number): void {
    const { log } = this.#options;
    const { aside } = this.#host;
    const listener: WorkerListener = {
      message: (message) => {
        aside.run('take in what its worker told', () => this.#heard(run, message));
      },
      exited: (exit, left) => this.#exited(run, exit, left),
      spawnFailed: (error) => this.#spawnFailed(run, error),
    };
    const taken = aside.run('take its spare worker', () => this.#spare.take());
    if (taken !== undefined) return this.#adopt(run, taken, listener);
    const { descriptor, from } = aside.run('open its log for a worker', () => log.forWorker()) ?? NO_OUTPUT;
    let process: WorkerProcess;
    try {
      process = new WorkerProcess({ ...this.#spec, output: descriptor }, listener);
    } catch (error) {
      return queueMicrotask(() => this.#spawnFailed(run, error as NodeJS.ErrnoException));
    }
    this.#current = new WorkerRun({ run, process, logFrom: from });
    log.write('info', 'worker started', { run, pid: process.pid });
  }

  #adopt(run: number, { process, output, hello }: TakenSpare, listener: WorkerListener): void {
    const { log } = this.#options;
    const logFrom = this.#host.aside.run('open its log for a worker', () => log.adopt(output));
    this.#current = new WorkerRun({ run, process, logFrom });
    process.reportTo(listener);
    if (hello !== undefined) listener.message(hello);
    log.write('info', 'worker started', { run, pid: process.pid, spare: true });
  }

  async #lookForSharer(run: number, afterMs: number): Promise<void> {
    const former = this.#former;
    await delay(afterMs);
    const { facts } = this;
    if (former === null || facts?.run !== run) return;
    const detail = await this.listening.sharer(former, facts.pid);
    if (detail !== undefined) this.#host.dispatch({ kind: 'address_shared', run, detail });
  }

  askStop(purpose: 'stop' | 'restart'): void {
    this.#current?.process.askStop(purpose);
  }

  kill(cause: string): void {
    const names = namesOf(this.#current);
    this.#current?.kill(cause);
    this.#options.log.write('warn', 'worker killed', { ...names, cause });
  }

  /** Repeats a kill that may not have reached the worker. */
  killAgain(): void {
    this.#current?.process.kill();
  }

  /** False if no exit event of a worker can come any more. */
  get hasProcess(): boolean {
    return this.#current?.process.isAlive === true;
  }

  /** Writes a report on the silent worker, seen from outside. */
  report(): void {
    const { log, paths } = this.#options;
    const current = this.#current;
    const report = current?.report(paths.reportsDir, log.lastLines(LAST_LINES, current.logFrom));
    log.write('error', 'worker is silent', { ...namesOf(current), report });
  }

  /** Throws if no worker can reload, or if the worker refuses the reload. */
  reload(orRestart: boolean): Promise<ReloadResult> {
    return this.#reloads.ask(
      (id) =>
        this.#host.state().kind === 'running' &&
        this.#current?.process.send({ type: 'reload', id, orRestart }) === true,
    );
  }

  /** Called each second. */
  lookForSpare(): void {
    this.#spare.dispatch({ kind: 'look', isOn: this.#settings.standby === true, state: this.#host.state() });
  }

  get spare(): SpareState['kind'] {
    return this.#spare.kind;
  }

  logMoved(): void {
    this.#spare.dispatch({ kind: 'log_moved' });
    this.#current?.process.send({ type: 'reopen_logs' });
  }

  #spawnFailed(run: number, { message, code = '' }: NodeJS.ErrnoException): void {
    const remedy = remedyFor(code);
    const detail = remedy === undefined ? message : `${message}: ${remedy}`;
    this.#current = undefined;
    this.#host.dispatch({ kind: 'spawn_failed', run, code, detail }, () =>
      this.#options.log.write('error', 'worker could not be started', { run, reason: detail }),
    );
  }

  #heard(run: number, message: WorkerMessage): void {
    const current = this.#current;
    if (current === undefined || current.facts.run !== run) return;
    current.learn(message);
    switch (message.type) {
      case 'hello':
        this.#welcome(current, message);
        return;
      case 'settings':
        this.adjust(message.settings);
        this.#host.dispatch({ kind: 'address_told', run });
        return;
      case 'up':
      case 'progress':
      case 'heartbeat':
        this.#host.dispatch({ kind: message.type, run }, () => message.type === 'up' && this.listening.listened());
        return;
      case 'stopping':
        this.#host.dispatch({ kind: 'worker_stopping', run, code: message.code, switched: message.switched });
        return;
      case 'reloaded':
        this.#reloads.answered(message);
        return;
      case 'log_lost':
        this.#options.log.tell(message);
        return;
      case 'secrets':
        this.#options.log.conceal(message.values);
        return;
      case 'ready':
      case 'failure':
      case 'prepared':
        return; // facts only, or `prepared` from a spare that a start has taken
    }
  }

  #welcome({ process, facts }: WorkerRun, hello: Extract<WorkerMessage, { type: 'hello' }>): void {
    const { host, port } = this.#settings;
    const { listen, socket } = this.listening.greet(process, hello, { host, port });
    const capabilities = WORKER_CAPABILITIES.filter((name) => name !== 'listen' || this.listening.isPossible);
    const { previous } = this.#host.history;
    const { secrets: environment } = this.#options;
    process.send(
      { type: 'welcome', protocol: IPC_PROTOCOL, capabilities, environment, previous, run: facts.run, listen },
      socket,
    );
  }

  /** Serves the address that the current worker reported. Never rejects: a failed bind becomes an event. */
  async serve(): Promise<void> {
    if (this.#current === undefined) return;
    const { process, facts } = this.#current;
    const detail = await this.listening
      .serve(process, this.#settings)
      .catch((error: unknown) => `the address cannot be held: ${messageOf(error)}`);
    if (detail !== undefined) this.#host.dispatch({ kind: 'address_taken', run: facts.run, detail });
  }

  /** Reads first what the transition needs, without throwing. Cleanup runs after the transition. */
  #exited(run: number, exit: WorkerExit, left: readonly number[] | undefined): void {
    const { log, paths } = this.#options;
    const { aside } = this.#host;
    const current = this.#current;
    if (current === undefined || current.facts.run !== run) return;
    const state = this.#host.state();
    const wasUp = hasRun(state) && state.kind !== 'starting' && state.upAt !== undefined;
    const asked = state.kind === 'draining' ? codeAsked(state.purpose) : undefined;
    const lastLines = aside.run('read its last lines', () => log.lastLines(LAST_LINES, current.logFrom)) ?? [];
    const record = current.ended(exit, { wasUp, asked, lastLines });
    const beside = state.kind === 'starting' ? otherOwner(paths.workerRecord) : undefined;
    this.#current = undefined;
    this.#former = current.process.identity;
    this.#host.history.ended(record);
    const event: Event = { kind: 'exited', run, exit, detail: record.detail ?? record.reason, beside };
    this.#host.dispatch(event, () => this.#tidy({ current, record, left, beside }));
  }

  #tidy({ current, record, left, beside }: Ended): void {
    const { log } = this.#options;
    const { aside } = this.#host;
    const { lastLines: _, ...facts } = record;
    const { run, reason, code } = facts;
    aside.run('end the spare worker', () => this.#spare.dispatch({ kind: 'worker_ended', code }));
    this.#reloads.workerEnded();
    aside.run('close a report', () => current.closeReport());
    aside.run('tidy its log after a worker', () => log.workerEnded());
    log.write(reason === 'crashed' || reason === 'config' ? 'error' : 'info', 'worker ended', facts);
    if (left !== undefined) log.write('error', 'processes of an ended worker live on', { run, pids: left });
    if (beside !== undefined) log.write('error', beside);
  }
}

const namesOf = (worker: WorkerRun | undefined) => ({
  run: worker?.facts.run,
  pid: worker?.process.pid,
  runtimeId: worker?.facts.runtimeId,
});

interface Ended {
  readonly current: WorkerRun;
  readonly record: ExitRecord;
  /** Pids of its process group that SIGKILL could not end. */
  readonly left: readonly number[] | undefined;
  readonly beside: string | undefined;
}
