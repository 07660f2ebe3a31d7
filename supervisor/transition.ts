// The supervisor's state machine: pure. `step` decides; supervisor.ts carries out the effects and feeds their results back as events.
//
//  state       | entered on                  | left on
//  locking     | start                       | lock_held → checking; lock_lost → stopped (code 0 or 1)
//  checking    | lock held; leaving failed   | clear → starting or deferred; stuck → failed; stop → stopped
//  starting    | spawn                       | up → running; exited → classified; overdue → killed, then a crash; spawn_failed → failed; stop, restart → draining; address_taken → draining, killed, then failed
//  running     | up                          | exited → classified; silence → hung; stop, restart, worker_stopping → draining
//  hung        | no heartbeat                | 2 s for the report, killed, exited → a crash; stop, restart → draining, killed at once
//  draining    | stop, restart, 51, 75       | exited → stopped, starting, or classified; over time → killed; stop turns a restart into a stop
//  backing_off | crash, budget left          | delay over, restart → starting; stop → stopped
//  deferred    | 51 or 75, budget spent      | oldest start leaves the window → starting; restart → starting (window cleared); stop → stopped
//  failed      | crash, budget spent; 78; …  | restart → checking (window cleared); stop → stopped
//  stopped     | exit 0 or 130, stop         | never: the supervisor exits
//
//   S1  Every event has a defined answer in every state; what does not apply changes nothing.
//   S2  A worker is started only when none is left: `spawn` never comes while a run is alive.
//   S3  No span of the window holds more starts than the limit, unless an operator cleared it.
//   S4  Events of an earlier run change nothing.
//   S5  A live run always has a deadline, until it has been killed.
//   S6  `stop` ends in stopped from every state, whatever the worker does.
//   S7  The socket is released with failed, stopped and any end that has no successor, and never before.
//   S8  51 and 75 of a worker that was up never end in failed.
import { exitReason, type WorkerExit } from './exit-reason.ts';
import {
  type DrainPurpose,
  deadlineOf,
  type Effect,
  type Event,
  type FailureKind,
  hasRun,
  type Machine,
  type Moment,
  type State,
  type Step,
} from './machine.ts';
import { crashDelay, EMPTY_WINDOW, recordCrash, recordStart, roomAt, startsLeft } from './restart-window.ts';

/** One event: the machine after it, and what is to be done. */
export function step(machine: Machine, event: Event, moment: Moment): Step {
  if ('run' in event && event.run !== machine.run) return unchanged(machine);
  switch (event.kind) {
    case 'limits':
      return unchanged({ ...machine, limits: event.limits });
    case 'lock_held':
      return machine.state.kind === 'locking'
        ? to(machine, { kind: 'checking' }, [{ kind: 'check', final: true }])
        : unchanged(machine);
    case 'lock_lost':
      return machine.state.kind === 'locking' ? stopped(machine, event.healthy ? 0 : 1) : unchanged(machine);
    case 'clear':
      return machine.state.kind === 'checking' ? begin(machine, moment) : unchanged(machine);
    case 'stuck':
      return machine.state.kind === 'checking' ? failed(machine, event.failure, event.detail) : unchanged(machine);
    case 'spawn_failed':
      return hasRun(machine.state) ? failed(machine, 'spawn', event.detail) : unchanged(machine);
    case 'address_taken':
      return machine.state.kind === 'starting' ? condemn(machine, event.detail, moment) : unchanged(machine);
    case 'worker_stopping':
      return machine.state.kind === 'running'
        ? drain(machine, { kind: 'worker', code: event.code }, moment)
        : unchanged(machine);
    case 'up':
    case 'progress':
    case 'heartbeat':
      return onSign(machine, event.kind, moment);
    case 'exited':
      return hasRun(machine.state) ? onExit(machine, event, moment) : unchanged(machine);
    case 'stop':
      return onStop(machine, event.now, moment);
    case 'restart':
      return onRestart(machine, moment);
    case 'clock_jump':
      return renewed(machine, moment);
    case 'tick':
      return onTick(machine, moment);
  }
}

const RELEASE: Effect = { kind: 'release' };

const unchanged = (machine: Machine): Step => ({ machine, effects: [] });
const to = (machine: Machine, state: State, effects: readonly Effect[] = []): Step => ({
  machine: { ...machine, state },
  effects,
});
const stopped = (machine: Machine, code: 0 | 1): Step =>
  to(machine, { kind: 'stopped', code }, [RELEASE, { kind: 'exit', code }]);
const failed = (machine: Machine, failure: FailureKind, detail: string): Step =>
  to(machine, { kind: 'failed', failure, detail }, [RELEASE]);

/** Starts a worker where the budget has room, else waits for it. */
function begin(machine: Machine, { now }: Moment): Step {
  const { window, limits } = machine;
  if (startsLeft(window, now, limits) === 0)
    return to(machine, { kind: 'deferred', until: roomAt(window, now, limits) });
  const run = machine.run + 1;
  const state: State = { kind: 'starting', deadline: now + limits.upMs, overdue: false };
  return {
    machine: { ...machine, run, window: recordStart(window, now, limits), state },
    effects: [{ kind: 'spawn', run }],
  };
}

function onSign(machine: Machine, sign: 'up' | 'progress' | 'heartbeat', { now }: Moment): Step {
  const { state, limits } = machine;
  if (state.kind === 'starting' && !state.overdue) {
    if (sign === 'up') return to(machine, { kind: 'running', upAt: now, heardAt: now });
    if (sign === 'progress') return to(machine, { ...state, deadline: now + limits.upMs });
  }
  if (state.kind === 'running') return to(machine, { ...state, heardAt: now });
  return unchanged(machine);
}

/** From starting or running: the worker has until the deadline. */
function drain(machine: Machine, purpose: DrainPurpose, { now }: Moment): Step {
  const { state, limits, run } = machine;
  const upAt = state.kind === 'running' ? state.upAt : undefined;
  const effects = purpose.kind === 'stop' || purpose.kind === 'restart' ? askStop(run, purpose.kind) : leaving(purpose);
  return to(machine, { kind: 'draining', upAt, deadline: now + limits.stopMs, killed: false, purpose }, effects);
}

/** A worker that waits for nothing is killed: there will be no address for it. */
function condemn(machine: Machine, detail: string, moment: Moment): Step {
  return killNow(drain(machine, { kind: 'fail', failure: 'port', detail }, moment).machine, detail);
}

/** A stop closes the door first: what has no successor must not keep anybody waiting. */
const askStop = (run: number, purpose: 'stop' | 'restart'): readonly Effect[] =>
  purpose === 'stop' ? [RELEASE, { kind: 'ask_stop', run, purpose }] : [{ kind: 'ask_stop', run, purpose }];

const leaving = (purpose: DrainPurpose): readonly Effect[] =>
  purpose.kind === 'worker' && purpose.code === 0 ? [RELEASE] : [];

function onExit(machine: Machine, { exit, detail }: Extract<Event, { kind: 'exited' }>, moment: Moment): Step {
  const { state } = machine;
  if (!hasRun(state)) return unchanged(machine);
  if (state.kind === 'draining' && state.purpose.kind === 'stop') return stopped(machine, 0);
  if (state.kind === 'draining' && state.purpose.kind === 'restart') return begin(machine, moment);
  if (state.kind === 'draining' && state.purpose.kind === 'fail')
    return failed(machine, state.purpose.failure, state.purpose.detail);
  const upAt = state.kind === 'starting' ? undefined : state.upAt;
  switch (exitReason(meantExit(state, exit), upAt !== undefined)) {
    case 'stopped':
      return stopped(machine, 0);
    case 'config':
      return failed(machine, 'config', detail);
    case 'restart_requested':
    case 'restart_required':
      return begin(machine, moment);
    case 'crashed':
      return onCrash(machine, upAt === undefined ? 0 : moment.now - upAt, { detail, moment });
  }
}

/** A worker that was killed by us for silence crashed; one that was killed while it drained ended with the code that it had announced. */
function meantExit(state: State, exit: WorkerExit): WorkerExit {
  const killedForSilence = state.kind === 'hung' || (state.kind === 'starting' && state.overdue);
  if (killedForSilence) return { code: null, signal: exit.signal };
  if (state.kind === 'draining' && state.purpose.kind === 'worker' && state.killed)
    return { code: state.purpose.code, signal: null };
  return exit;
}

function onCrash(
  machine: Machine,
  uptimeMs: number,
  { detail, moment }: { readonly detail: string; readonly moment: Moment },
): Step {
  const { limits } = machine;
  const crashed = { ...machine, window: recordCrash(machine.window, uptimeMs, limits) };
  if (startsLeft(crashed.window, moment.now, limits) === 0) return failed(crashed, 'storm', detail);
  const delayMs = crashDelay(crashed.window, moment.random, limits);
  return delayMs === 0 ? begin(crashed, moment) : to(crashed, { kind: 'backing_off', until: moment.now + delayMs });
}

const STOP: DrainPurpose = { kind: 'stop' };
const RESTART: DrainPurpose = { kind: 'restart' };

function killNow(machine: Machine, cause: string): Step {
  const { state, run } = machine;
  if (state.kind !== 'draining') return unchanged(machine);
  return to(machine, { ...state, killed: true }, [{ kind: 'kill', run, cause }]);
}

function onStop(machine: Machine, atOnce: boolean, moment: Moment): Step {
  const { state, run } = machine;
  switch (state.kind) {
    case 'stopped':
      return unchanged(machine);
    case 'starting':
    case 'running':
      return atOnce ? killNow(drain(machine, STOP, moment).machine, 'stop --now') : drain(machine, STOP, moment);
    case 'hung':
      return killNow(to(machine, { ...state, kind: 'draining', purpose: STOP }).machine, 'hung');
    case 'draining': {
      if (state.killed) return to(machine, { ...state, purpose: STOP });
      if (atOnce) return killNow(to(machine, { ...state, purpose: STOP }).machine, 'stop --now');
      return to(machine, { ...state, purpose: STOP }, state.purpose.kind === 'stop' ? [] : askStop(run, 'stop'));
    }
    case 'locking':
    case 'checking':
    case 'backing_off':
    case 'deferred':
    case 'failed':
      return stopped(machine, 0);
  }
}

function onRestart(machine: Machine, moment: Moment): Step {
  const { state } = machine;
  switch (state.kind) {
    case 'starting':
    case 'running':
      return drain(machine, RESTART, moment);
    case 'hung':
      return killNow(to(machine, { ...state, kind: 'draining', purpose: RESTART }).machine, 'hung');
    case 'backing_off':
      return begin(machine, moment);
    case 'deferred':
      return begin({ ...machine, window: EMPTY_WINDOW }, moment);
    case 'failed':
      return to({ ...machine, window: EMPTY_WINDOW }, { kind: 'checking' }, [{ kind: 'check', final: false }]);
    case 'locking':
    case 'checking':
    case 'draining':
    case 'stopped':
      return unchanged(machine);
  }
}

/** After a sleep of the machine everybody gets their full time again. */
function renewed(machine: Machine, { now }: Moment): Step {
  const { state, limits } = machine;
  if (state.kind === 'running') return to(machine, { ...state, heardAt: now });
  if (state.kind === 'starting' && !state.overdue) return to(machine, { ...state, deadline: now + limits.upMs });
  return unchanged(machine);
}

function onTick(machine: Machine, moment: Moment): Step {
  const due = deadlineOf(machine);
  if (due === undefined || moment.now < due) return unchanged(machine);
  const { state, limits, run } = machine;
  switch (state.kind) {
    case 'starting':
      return to(machine, { ...state, overdue: true }, [
        { kind: 'kill', run, cause: `not up within ${limits.upMs} ms` },
      ]);
    case 'running':
      return to(machine, { kind: 'hung', upAt: state.upAt, deadline: moment.now + limits.reportMs, killed: false }, [
        { kind: 'write_report', run },
      ]);
    case 'hung':
      return to(machine, { ...state, killed: true }, [
        { kind: 'kill', run, cause: `no heartbeat for ${limits.watchdogMs} ms` },
      ]);
    case 'draining':
      return to(machine, { ...state, killed: true }, [
        { kind: 'kill', run, cause: `not drained within ${limits.stopMs} ms` },
      ]);
    case 'backing_off':
    case 'deferred':
      return begin(machine, moment);
    case 'locking':
    case 'checking':
    case 'failed':
    case 'stopped':
      return unchanged(machine);
  }
}
