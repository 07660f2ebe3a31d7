// Runs the supervisor's state machine: carries out its effects and feeds the results back as events. Decisions are made by `step` alone.
//
// Order of every event: step → keep the state → set the timer for the next deadline → cleanup → effects → write the record if it changed.
// All work after `step` runs guarded, so that no fault in it loses an event.
import type { ReloadResult, RuntimeStatus } from '../shared/api/control.ts';
import { StateWatch } from '../shared/files/state-watch.ts';
import { bootClock } from '../shared/process/process-identity.ts';
import { messageOf } from '../shared/svc-error.ts';
import { History } from './log/history.ts';
import type { LogWatch } from './log/runtime-log.ts';
import { Asides } from './machine/aside.ts';
import {
  deadlineOf,
  type Effect,
  type Event,
  hasRun,
  isClockJump,
  isKilled,
  type Machine,
  type Moment,
  newMachine,
} from './machine/machine.ts';
import { limitsOf } from './machine/settings.ts';
import { runtimeStatus, stateFields } from './machine/status.ts';
import { step } from './machine/transition.ts';
import { Handover, type SuccessorProgram } from './succession/handover.ts';
import type { InstanceLock } from './succession/instance-lock.ts';
import type { Inheritance } from './succession/succession.ts';
import { lookForLeftovers } from './workers/leftover.ts';
import { Workers, type WorkersOptions } from './workers/workers.ts';

export interface SupervisorOptions extends WorkersOptions {
  readonly lock: InstanceLock;
  readonly mode: string;
  /** Receives every step, for a later replay. */
  readonly trace?: (taken: TracedStep) => void;
  /** Called when the process may exit. */
  readonly onStopped: (code: 0 | 1) => void;
}

/** One recorded step. Replaying `event` on `before` must give `after` and `effects` again. */
export interface TracedStep {
  readonly before: Machine;
  readonly event: Event;
  readonly moment: Moment;
  readonly after: Machine;
  readonly effects: readonly Effect[];
}

const LOOK_MS = 1_000;
const LOOKS_WITHOUT_PROCESS = 10; // in a row, although the machine has a worker: the exit event was lost

/** States that tell of the worker that has ended. */
const OF_THE_LAST: ReadonlySet<Machine['state']['kind']> = new Set(['failed', 'backing_off', 'deferred']);

export class Supervisor {
  readonly #options: SupervisorOptions;
  readonly #aside: Asides;
  #machine: Machine;
  readonly #history: History;
  readonly #stateWatch: StateWatch;
  readonly #workers: Workers;
  readonly #handover: Handover;
  #timer: NodeJS.Timeout | undefined;
  #look: NodeJS.Timeout | undefined;
  #lookedAt = 0;
  #looksWithoutProcess = 0;
  readonly #stopWaiters: (() => void)[] = [];

  constructor(options: SupervisorOptions) {
    this.#options = options;
    this.#aside = new Asides((what, reason) =>
      options.log.write('error', `the supervisor could not ${what}`, { reason }),
    );
    this.#machine = newMachine(limitsOf(options.settings));
    this.#stateWatch = new StateWatch(options.paths.stateDir);
    this.#history = new History(options.paths, this.#stateWatch);
    this.#handover = new Handover(options.lock);
    this.#workers = new Workers(options, {
      history: this.#history,
      aside: this.#aside,
      state: () => this.#machine.state,
      dispatch: (event, tidy) => this.dispatch(event, tidy),
    });
  }

  /** Called with the lock held: takes over a former supervisor's state, from disk or from `inheritance`, then starts the worker. */
  start(inheritance?: Inheritance): void {
    this.#machine = { ...this.#machine, ...(inheritance === undefined ? this.#fromDisk() : this.#from(inheritance)) };
    this.#lookedAt = bootClock();
    this.#look = setInterval(() => this.#lookAround(), LOOK_MS);
    const watch: LogWatch = {
      limits: () => ({ maxBytes: this.#workers.settings.logBytes, maxFiles: this.#workers.settings.logFiles }),
      onMoved: () => {
        this.#aside.run('tell its worker of the moved log', () => this.#workers.logMoved());
      },
    };
    this.#aside.run('look after its log', () => this.#options.log.watch(watch));
    this.dispatch({ kind: 'lock_held' });
  }

  #fromDisk(): Pick<Machine, 'window'> {
    const { window, fault } = this.#history.takeOver();
    if (fault !== undefined)
      this.#write('warn', 'what the former supervisor left could not be used', { reason: fault });
    return { window };
  }

  #from({ estate, socket }: Inheritance): Pick<Machine, 'window' | 'run'> {
    this.#history.inherit(estate);
    if (estate.held !== null && socket !== undefined) this.#workers.listening.adopt(estate.held, socket);
    return { window: estate.window, run: estate.run };
  }

  /** Starts the supervisor that will replace this one. The state machine does the rest. If it throws, nothing has changed. */
  async replace({ settings, ...program }: SuccessorProgram): Promise<number> {
    const { paths, environment } = this.#options;
    const spec = { ...program, project: paths.project, environment };
    const pid = await this.#handover.prepare(spec, () => this.#machine.state);
    this.#workers.adjust(settings);
    this.dispatch({ kind: 'replace' }, () => this.#write('info', 'supervisor is being replaced', { by: pid }));
    return pid;
  }

  async #handOver(): Promise<void> {
    const { listening, settings } = this.#workers;
    const { window, run } = this.#machine;
    const { exits, previous } = this.#history;
    const { held } = listening;
    const { secrets } = this.#options;
    try {
      const estate = { window, run, exits, previous, settings, secrets, held: held?.address ?? null };
      await this.#handover.perform(estate, held?.socket);
      if (this.#machine.state.kind !== 'checking') return this.#handover.giveUp(); // a stop came in between
      this.#history.leave();
      this.#handover.go();
      this.dispatch({ kind: 'handed_over' });
    } catch (error) {
      this.dispatch({ kind: 'handover_failed' }, () => {
        this.#options.log.write('error', 'the supervisor could not be replaced', { reason: messageOf(error) });
        this.#handover.giveUp();
      });
    }
  }

  status(): RuntimeStatus {
    return runtimeStatus({
      machine: this.#machine,
      since: this.#history.since,
      worker: this.#workers.facts,
      exits: this.#history.exits,
      socket: this.#workers.listening.isHeld,
      configVersion: this.#workers.settings.configVersion,
      log: this.#options.paths.runtimeLog,
      mode: this.#options.mode,
      standby: this.#workers.settings.standby === true ? this.#workers.spare : null,
      notes: [...this.#aside.notes, ...this.#history.notes, ...this.#workers.listening.notes],
      now: { monotonic: bootClock(), wall: Date.now() },
    });
  }

  /** Resolves when the machine has stopped. */
  stop(atOnce: boolean): Promise<void> {
    const stopped = new Promise<void>((resolve) => this.#stopWaiters.push(resolve));
    this.dispatch({ kind: 'stop', now: atOnce });
    return stopped;
  }

  /** Throws if no worker can reload, or if the worker refuses the reload. */
  reload(orRestart: boolean): Promise<ReloadResult> {
    return this.#workers.reload(orRestart);
  }

  /** The only way to change the state. Never throws. `tidy` is cleanup that runs before the effects. */
  dispatch(event: Event, tidy?: () => void): void {
    const before = this.#machine;
    const moment = { now: bootClock(), random: Math.random() };
    const { machine, effects } = step(before, event, moment);
    this.#machine = machine;
    this.#arm();
    const { trace } = this.#options;
    if (trace !== undefined)
      this.#aside.run('write its trace', () => trace({ before, event, moment, after: machine, effects }));
    if (tidy !== undefined) this.#aside.run(`tidy up after ${event.kind}`, tidy);
    if (machine.state.kind !== before.state.kind) this.#aside.run('note its state', () => this.#entered(machine));
    for (const effect of effects) this.#carryOut(effect);
    if (machine.state.kind !== before.state.kind || machine.window !== before.window)
      this.#aside.run('write its record', () => this.#history.write(this.#machine, this.#workers.identity));
  }

  /** Called after an uncaught error: sets the timer again, in case the error prevented it. */
  driveOn(): void {
    this.#arm();
  }

  #write(...line: Parameters<WorkersOptions['log']['write']>): void {
    this.#aside.run('write its log', () => this.#options.log.write(...line));
  }

  #entered(machine: Machine): void {
    const { run, state } = machine;
    const { kind } = state;
    this.#history.entered();
    const level = kind === 'failed' || kind === 'hung' ? 'error' : kind === 'deferred' ? 'warn' : 'info';
    const runtimeId =
      this.#workers.facts?.runtimeId ?? (OF_THE_LAST.has(kind) ? this.#history.exits.at(-1)?.runtimeId : undefined);
    const fields = { state: kind, run, runtimeId, ...stateFields(machine, bootClock()) };
    this.#options.log.write(level, `supervisor ${kind.replaceAll('_', ' ')}`, fields);
  }

  /** Runs one effect. A failed effect becomes an event if the machine waits for one. A failed kill is repeated each second. */
  #carryOut(effect: Effect): void {
    const done = this.#aside.run(`carry out: ${effect.kind.replaceAll('_', ' ')}`, () => {
      this.#run(effect);
      return true;
    });
    if (done === undefined && effect.kind === 'ask_stop') this.#workers.kill('it could not be told to end');
  }

  #run(effect: Effect): void {
    switch (effect.kind) {
      case 'check':
        void this.#check(effect.final);
        return;
      case 'release':
        this.#workers.listening.release();
        return;
      case 'spawn':
        this.#workers.spawn(effect.run, effect.sharerAfterMs);
        return;
      case 'serve':
        void this.#workers.serve(); // the result comes as an event
        return;
      case 'ask_stop':
        this.#workers.askStop(effect.purpose);
        return;
      case 'write_report':
        this.#workers.report();
        return;
      case 'kill':
        this.#workers.kill(effect.cause);
        return;
      case 'hand_over':
        void this.#handOver();
        return;
      case 'exit':
        this.#aside.run('end the spare worker', () => this.#workers.lookForSpare());
        clearInterval(this.#look);
        this.#aside.run('look after its log no more', () => this.#options.log.unwatch());
        clearTimeout(this.#timer);
        for (const resolve of this.#stopWaiters) resolve();
        this.#options.onStopped(effect.code);
        return;
    }
  }

  async #check(final: boolean): Promise<void> {
    const { paths } = this.#options;
    const { listening, settings } = this.#workers;
    const event = await lookForLeftovers({
      former: this.#history.takeFormer(),
      workerRecord: paths.workerRecord,
      claim: async () => (final ? listening.claim(settings) : void (await listening.claim(settings, 1))),
      say: (message, fields) => this.#write('warn', message, fields),
    });
    this.dispatch(event);
  }

  #lookAround(): void {
    const now = bootClock();
    const lateMs = now - this.#lookedAt - LOOK_MS;
    this.#lookedAt = now;
    if (isClockJump(lateMs)) this.dispatch({ kind: 'clock_jump' });
    this.#lookForWorker();
    this.#aside.run('look after the spare worker', () => this.#workers.lookForSpare());
    const lost = this.#aside.run('look at its folder', () => this.#stateWatch.lostNow());
    if (lost === undefined) return;
    this.#history.leave(); // another supervisor may own the folder by now
    this.dispatch({ kind: 'stop', now: false }, () => this.#options.log.write('error', lost));
  }

  /** Safety net: repeats a kill that did not reach its worker, and reports an exit whose event was lost. */
  #lookForWorker(): void {
    const { state, run } = this.#machine;
    if (!hasRun(state)) return;
    if (isKilled(state)) this.#aside.run('kill its worker', () => this.#workers.killAgain());
    this.#looksWithoutProcess = this.#workers.hasProcess ? 0 : this.#looksWithoutProcess + 1;
    if (this.#looksWithoutProcess < LOOKS_WITHOUT_PROCESS) return;
    this.#looksWithoutProcess = 0;
    this.dispatch({ kind: 'exited', run, exit: { code: null, signal: null }, detail: 'it ended without a word' });
  }

  #arm(): void {
    clearTimeout(this.#timer);
    const due = deadlineOf(this.#machine);
    if (due === undefined) return;
    this.#timer = setTimeout(
      () => {
        if (isClockJump(bootClock() - due)) this.dispatch({ kind: 'clock_jump' });
        this.dispatch({ kind: 'tick' });
      },
      Math.max(0, due - bootClock()),
    );
  }
}
