// The supervisor's runner: carries out the effects of the machine and feeds back what came of them. It decides nothing: transition.ts does.
//
// Order of every event: step → state kept → effects → record written when something in it changed → timer set for the next deadline.
import type { RuntimeStatus } from '../shared/api/control.ts';
import { IPC_PROTOCOL, type SupervisorSettings, WORKER_CAPABILITIES, type WorkerMessage } from '../shared/api/ipc.ts';
import type { ProjectPaths } from '../shared/paths.ts';
import { bootClock } from '../shared/process-identity.ts';
import type { WorkerExit } from './exit-reason.ts';
import { History } from './history.ts';
import { lookForLeftovers } from './leftover.ts';
import { Listening } from './listening.ts';
import { deadlineOf, type Effect, type Event, hasRun, type Machine, type Moment, newMachine } from './machine.ts';
import { PendingReloads } from './pending-reloads.ts';
import type { RuntimeLog } from './runtime-log.ts';
import { limitsOf } from './settings.ts';
import { runtimeStatus } from './status.ts';
import { step } from './transition.ts';
import { WorkerProcess } from './worker-process.ts';
import { WorkerRun } from './worker-run.ts';

export interface SupervisorOptions {
  readonly paths: ProjectPaths;
  readonly log: RuntimeLog;
  readonly mode: string;
  /** Arguments of Node for a worker. */
  readonly workerArgs: readonly string[];
  /** Environment of the worker process, without secrets. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Handed over IPC alone. */
  readonly secrets: Readonly<Record<string, string>>;
  readonly settings: SupervisorSettings;
  /** Is given every step as it was taken, for a later replay. */
  readonly trace?: (taken: TracedStep) => void;
  /** The machine has stopped: the process may end. */
  readonly onStopped: (code: 0 | 1) => void;
}

/** The machine's memory of itself: replayed through `step`, every one must come out as it was. */
export interface TracedStep {
  readonly before: Machine;
  readonly event: Event;
  readonly moment: Moment;
  readonly after: Machine;
  readonly effects: readonly Effect[];
}

const LOOK_MS = 1_000;
/** A timer that comes this late was held up by a sleep of the machine, not by work. */
const JUMP_MS = 2_000;
const LAST_LINES = 20;

export class Supervisor {
  readonly #options: SupervisorOptions;
  #settings: SupervisorSettings;
  #machine: Machine;
  readonly #history: History;
  readonly #listening: Listening;
  #current: WorkerRun | undefined;
  #timer: NodeJS.Timeout | undefined;
  #look: NodeJS.Timeout | undefined;
  #lookedAt = 0;
  readonly #reloads = new PendingReloads();
  readonly #stopWaiters: (() => void)[] = [];

  constructor(options: SupervisorOptions) {
    this.#options = options;
    this.#settings = options.settings;
    this.#machine = newMachine(limitsOf(options.settings));
    this.#history = new History(options.paths);
    this.#listening = new Listening((message, fields) => options.log.write('warn', message, fields));
  }

  /** The lock is held: takes over what a former supervisor left, then starts the worker. */
  start(): void {
    const { window, fault } = this.#history.takeOver();
    if (fault !== undefined)
      this.#options.log.write('warn', 'the record of the former supervisor could not be used', { reason: fault });
    this.#machine = { ...this.#machine, window };
    this.#lookedAt = bootClock();
    this.#look = setInterval(() => this.#lookAround(), LOOK_MS);
    this.#options.log.watch({
      limits: () => ({ maxBytes: this.#settings.logBytes, maxFiles: this.#settings.logFiles }),
      onMoved: () => this.#current?.process.send({ type: 'reopen_logs' }),
    });
    this.dispatch({ kind: 'lock_held' });
  }

  status(): RuntimeStatus {
    return runtimeStatus({
      machine: this.#machine,
      since: this.#history.since,
      worker: this.#current?.facts,
      exits: this.#history.exits,
      socket: this.#listening.isHeld,
      configVersion: this.#settings.configVersion,
      log: this.#options.paths.runtimeLog,
      mode: this.#options.mode,
      notes: [...this.#history.notes, ...this.#listening.notes],
      now: { monotonic: bootClock(), wall: Date.now() },
    });
  }

  /** Resolves when the machine has stopped. */
  stop(atOnce: boolean): Promise<void> {
    const stopped = new Promise<void>((resolve) => this.#stopWaiters.push(resolve));
    this.dispatch({ kind: 'stop', now: atOnce });
    return stopped;
  }

  /** Throws where there is no worker that could reload, and what the worker refuses. */
  reload(orRestart: boolean): Promise<{ readonly generation: number | null }> {
    return this.#reloads.ask(
      (id) =>
        this.#machine.state.kind === 'running' &&
        this.#current?.process.send({ type: 'reload', id, orRestart }) === true,
    );
  }

  /** The one way in which the state changes. */
  dispatch(event: Event): void {
    const before = this.#machine;
    const moment = { now: bootClock(), random: Math.random() };
    const { machine, effects } = step(before, event, moment);
    this.#options.trace?.({ before, event, moment, after: machine, effects });
    this.#machine = machine;
    if (machine.state.kind !== before.state.kind) this.#entered(machine);
    for (const effect of effects) this.#run(effect);
    if (machine.state.kind !== before.state.kind || machine.window !== before.window) this.#writeRecord();
    this.#arm();
  }

  #entered({ state, run }: Machine): void {
    this.#history.entered();
    const level = state.kind === 'failed' || state.kind === 'hung' ? 'error' : 'info';
    const detail = state.kind === 'failed' ? { failure: state.failure, detail: state.detail } : {};
    this.#options.log.write(level, `supervisor ${state.kind.replaceAll('_', ' ')}`, {
      state: state.kind,
      run,
      ...detail,
    });
  }

  #run(effect: Effect): void {
    switch (effect.kind) {
      case 'check':
        void this.#check(effect.final);
        return;
      case 'release':
        this.#listening.release();
        return;
      case 'spawn':
        this.#spawn(effect.run);
        return;
      case 'ask_stop':
        this.#current?.process.askStop(effect.purpose);
        return;
      case 'write_report':
        this.#report();
        return;
      case 'kill':
        this.#options.log.write('warn', 'worker killed', {
          run: effect.run,
          pid: this.#current?.process.pid,
          cause: effect.cause,
        });
        this.#current?.kill(effect.cause);
        return;
      case 'exit':
        clearInterval(this.#look);
        this.#options.log.unwatch();
        clearTimeout(this.#timer);
        for (const resolve of this.#stopWaiters) resolve();
        this.#options.onStopped(effect.code);
        return;
    }
  }

  #report(): void {
    const { log, paths } = this.#options;
    const current = this.#current;
    const report = current?.report(paths.reportsDir, log.lastLines(LAST_LINES, current.logFrom));
    log.write('error', 'worker is silent', { run: current?.facts.run, pid: current?.process.pid, report });
  }

  async #check(final: boolean): Promise<void> {
    const { log, paths } = this.#options;
    const address = this.#settings;
    const event = await lookForLeftovers({
      former: this.#history.takeFormer(),
      workerRecord: paths.workerRecord,
      claim: async () => (final ? this.#listening.claim(address) : void (await this.#listening.claim(address, 1))),
      say: (message, fields) => log.write('warn', message, fields),
    });
    this.dispatch(event);
  }

  #spawn(run: number): void {
    const { log, paths, workerArgs, environment } = this.#options;
    const { descriptor, from } = log.forWorker();
    try {
      const process = new WorkerProcess(
        { args: workerArgs, project: paths.project, environment, output: descriptor },
        {
          message: (message) => this.#heard(run, message),
          exited: (exit) => this.#exited(run, exit),
          spawnFailed: (detail) => this.#spawnFailed(run, detail),
        },
      );
      this.#current = new WorkerRun({ run, process, logFrom: from });
      log.write('info', 'worker started', { run, pid: process.pid });
    } catch (error) {
      queueMicrotask(() => this.#spawnFailed(run, String(error)));
    }
  }

  #spawnFailed(run: number, detail: string): void {
    this.#current = undefined;
    this.dispatch({ kind: 'spawn_failed', run, detail });
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
        this.#settings = { ...this.#settings, ...message.settings };
        this.dispatch({ kind: 'limits', limits: limitsOf(this.#settings) });
        if (this.#machine.state.kind === 'starting') void this.#serve(current);
        return;
      case 'up':
      case 'progress':
      case 'heartbeat':
        this.dispatch({ kind: message.type, run });
        return;
      case 'stopping':
        this.dispatch({ kind: 'worker_stopping', run, code: message.code });
        return;
      case 'reloaded':
        this.#reloads.answered(message);
        return;
      case 'log_lost':
        this.#options.log.tell(message);
        return;
      case 'ready':
      case 'failure':
        return; // facts alone
    }
  }

  #welcome({ process, facts }: WorkerRun, hello: Extract<WorkerMessage, { type: 'hello' }>): void {
    const { host, port } = this.#settings;
    const { listen, socket } = this.#listening.greet(process, hello, { host, port });
    const capabilities = WORKER_CAPABILITIES.filter((name) => name !== 'listen' || this.#listening.isPossible);
    const { previous } = this.#history;
    const { secrets: environment } = this.#options;
    process.send(
      { type: 'welcome', protocol: IPC_PROTOCOL, capabilities, environment, previous, run: facts.run, listen },
      socket,
    );
  }

  async #serve({ process, facts: { run } }: WorkerRun): Promise<void> {
    const detail = await this.#listening.serve(process, this.#settings);
    if (detail !== undefined) this.dispatch({ kind: 'address_taken', run, detail });
  }

  #exited(run: number, exit: WorkerExit): void {
    const { log } = this.#options;
    const current = this.#current;
    if (current === undefined || current.facts.run !== run) return;
    const { state } = this.#machine;
    const wasUp = hasRun(state) && state.kind !== 'starting' && state.upAt !== undefined;
    const record = current.ended(exit, { wasUp, lastLines: log.lastLines(LAST_LINES, current.logFrom) });
    const { lastLines: _, ...facts } = record;
    const { reason, detail } = facts;
    this.#history.ended(record);
    this.#current = undefined;
    log.workerEnded();
    log.write(reason === 'crashed' || reason === 'config' ? 'error' : 'info', 'worker ended', facts);
    this.dispatch({ kind: 'exited', run, exit, detail: detail ?? reason });
  }

  #lookAround(): void {
    const now = bootClock();
    if (now - this.#lookedAt > LOOK_MS + JUMP_MS) this.dispatch({ kind: 'clock_jump' });
    this.#lookedAt = now;
  }

  #arm(): void {
    clearTimeout(this.#timer);
    const due = deadlineOf(this.#machine);
    if (due === undefined) return;
    this.#timer = setTimeout(
      () => {
        if (bootClock() - due > JUMP_MS) this.dispatch({ kind: 'clock_jump' });
        this.dispatch({ kind: 'tick' });
      },
      Math.max(0, due - bootClock()),
    );
  }

  #writeRecord(): void {
    this.#history.write(this.#machine, this.#current?.process.identity ?? null);
  }
}
