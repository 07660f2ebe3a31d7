// The supervisor's state machine. Pure: `step` decides, the supervisor carries out the effects and sends their results back as events.
//
//  state       | entered on                  | left on
//  locking     | start                       | lock_held → checking (without the lock the process exits before it makes a machine)
//  checking    | lock held; leaving failed   | clear, handover_failed → starting or deferred; stop, handed_over → stopped
//              |                             | stuck → failed; before the first worker, if another owner runs one → stopped (1)
//  starting    | spawn                       | up → running; exited → classified, or as stuck if another owner runs a worker
//              |                             | stop, restart, a finished switch → draining; overdue → killed, then a crash
//              |                             | spawn_failed → failed, or a crash if a retry may succeed
//              |                             | address_taken (the start is taken back), address_shared → draining, killed, then failed
//  running     | up                          | exited → classified; silence → hung; stop, restart, worker_stopping → draining
//              |                             | address_shared → draining, killed, then failed
//  hung        | no heartbeat                | report written, killed after 2 s, exited → a crash; stop, restart → draining, killed at once
//  draining    | stop, restart, 51, 75       | exited → stopped, starting, or classified; over time → killed; stop turns a restart into a stop
//  backing_off | crash, budget left          | delay over, restart → starting; stop → stopped
//  deferred    | 51 or 75, budget spent      | oldest start leaves the window → starting; restart → starting (window cleared); stop → stopped
//  failed      | crash, budget spent; 78; …  | restart → checking (window cleared); stop → stopped
//  stopped     | exit 0 or 130, stop         | never: the supervisor exits
//
//  start: like restart in backing_off, deferred and failed. In other states it changes nothing.
//  replace: like restart, but the worker's exit leads to checking. The waiting supervisor then receives lock, socket and budget.
//  Exit codes of a worker: 51 and 75 ask for a restart, 78 is an invalid configuration, 0 and 130 are intended ends.
//
//   MACHINE-1  Every event has a defined answer in every state. An event that does not apply changes nothing.
//   MACHINE-2  A worker is started only after the former one has ended. `spawn` never comes while a run is alive.
//   MACHINE-3  No span of the restart window holds more starts than the limit, unless an operator cleared the window.
//              A start whose port another program holds does not count.
//   MACHINE-4  Events of an earlier run change nothing.
//   MACHINE-5  A live run always has a deadline until it is killed.
//   MACHINE-6  `stop` leads to stopped from every state, whatever the worker does.
//   MACHINE-7  The socket is released on failed, on stopped and on any end without a following worker. It is never released earlier.
//   MACHINE-8  Exit codes 51 and 75 of a worker that was up never lead to failed.
//   MACHINE-9  A worker that announced the end of a switch before it was up is no crash. With the budget spent it leads to failed, as a crash does,
//              so a switch that is never over cannot restart for ever.
import { EXIT } from '../../shared/process/exit-codes.ts';
import { countedExit, exitReason, mayPass, type WorkerExit } from './exit-reason.ts';
import { deadlineOf, type Event, hasRun, type Machine, type Moment, type State, type Step } from './machine.ts';
import { onReplace, onRestart, onStart, onStop } from './requests.ts';
import { crashDelay, recordCrash, startsLeft, takeBackStart } from './restart-window.ts';
import { begin, codeAsked, drain, failed, handOver, killNow, stopped, to, unchanged } from './steps.ts';

/** Applies one event. Returns the next machine and the effects to carry out. */
export function step(machine: Machine, event: Event, moment: Moment): Step {
  if ('run' in event && event.run !== machine.run) return unchanged(machine);
  switch (event.kind) {
    case 'limits':
      return unchanged({ ...machine, limits: event.limits });
    case 'lock_held':
      return machine.state.kind === 'locking'
        ? to(machine, { kind: 'checking' }, [{ kind: 'check', final: true }])
        : unchanged(machine);
    case 'clear':
      return machine.state.kind === 'checking' ? begin(machine, moment) : unchanged(machine);
    case 'stuck':
      return machine.state.kind === 'checking' ? onStuck(machine, event) : unchanged(machine);
    case 'spawn_failed':
      return onSpawnFailed(machine, event, moment);
    case 'address_taken':
      return machine.state.kind === 'starting' ? onTaken(machine, event.detail, moment) : unchanged(machine);
    case 'address_told':
      return machine.state.kind === 'starting'
        ? to(machine, machine.state, [{ kind: 'serve', run: event.run }])
        : unchanged(machine);
    case 'address_shared':
      return machine.state.kind === 'starting' || machine.state.kind === 'running'
        ? failAndKill(machine, event.detail, moment)
        : unchanged(machine);
    case 'worker_stopping':
      return isDrainOfWorker(machine.state, event)
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
    case 'start':
      return onStart(machine, moment);
    case 'replace':
      return onReplace(machine, moment);
    case 'handed_over':
      return machine.state.kind === 'checking' ? stopped(machine, 0) : unchanged(machine);
    case 'handover_failed':
      return machine.state.kind === 'checking' ? begin(machine, moment) : unchanged(machine);
    case 'clock_jump':
      return renewed(machine, moment);
    case 'tick':
      return onTick(machine, moment);
  }
}

/** If another owner runs a worker before our first one, this supervisor is a second start. It ends, since it must not answer for the other host. */
function onStuck(machine: Machine, { failure, detail }: Extract<Event, { kind: 'stuck' }>): Step {
  return failure === 'owner' && machine.run === 0 ? stopped(machine, 1) : failed(machine, failure, detail);
}

/** The other owner's worker came after our check. This is no crash, because a retry would fail again. */
function onBeside(machine: Machine, detail: string): Step {
  return machine.run === 1 ? stopped(machine, 1) : failed(machine, 'owner', detail);
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

/** The spawn failed, so there is no process. That is a crash if a retry may succeed, the end of a requested drain, or else final. */
function onSpawnFailed(machine: Machine, event: Extract<Event, { kind: 'spawn_failed' }>, moment: Moment): Step {
  const { state } = machine;
  if (!hasRun(state)) return unchanged(machine);
  const { run, code, detail } = event;
  if (!mayPass(code) && state.kind !== 'draining') return failed(machine, 'spawn', detail);
  return onExit(machine, { kind: 'exited', run, exit: { code: null, signal: null }, detail }, moment);
}

/** Before it is up, a worker is only believed that it ends after a switch (EXIT-2). */
function isDrainOfWorker(state: State, { code, switched }: Extract<Event, { kind: 'worker_stopping' }>): boolean {
  if (state.kind !== 'starting') return state.kind === 'running';
  return !state.overdue && switched === true && code === EXIT.restartRequired;
}

/** The worker had only reported its address. The restart budget is for workers that end, so this start is taken back. */
function onTaken(machine: Machine, detail: string, moment: Moment): Step {
  return failAndKill({ ...machine, window: takeBackStart(machine.window) }, detail, moment);
}

/** The worker waits for an address that it cannot get, so nothing of value is lost by a kill. */
function failAndKill(machine: Machine, detail: string, moment: Moment): Step {
  return killNow(drain(machine, { kind: 'fail', failure: 'port', detail }, moment).machine, detail);
}

function onExit(machine: Machine, { exit, detail, beside }: Extract<Event, { kind: 'exited' }>, moment: Moment): Step {
  const { state } = machine;
  if (!hasRun(state)) return unchanged(machine);
  if (state.kind === 'draining' && state.purpose.kind === 'stop') return stopped(machine, 0);
  if (state.kind === 'draining' && state.purpose.kind === 'restart') return begin(machine, moment);
  if (state.kind === 'draining' && state.purpose.kind === 'replace') return handOver(machine);
  if (state.kind === 'draining' && state.purpose.kind === 'fail')
    return failed(machine, state.purpose.failure, state.purpose.detail);
  const upAt = state.kind === 'starting' ? undefined : state.upAt;
  const hasSwitched = state.kind === 'draining' && state.purpose.kind === 'worker' && upAt === undefined;
  switch (exitReason(meantExit(state, exit), upAt !== undefined || hasSwitched)) {
    case 'stopped':
      return stopped(machine, 0);
    case 'config':
      return failed(machine, 'config', detail);
    case 'restart_requested':
    case 'restart_required':
      if (hasSwitched && startsLeft(machine.window, moment.now, machine.limits) === 0)
        return failed(machine, 'storm', detail);
      return begin(machine, moment);
    case 'crashed':
      if (state.kind === 'starting' && beside !== undefined) return onBeside(machine, beside);
      return onCrash(machine, upAt === undefined ? 0 : moment.now - upAt, { detail, moment });
  }
}

/** A worker that we killed for silence counts as crashed. One that was killed in a drain counts as ended with the code it was to end with. */
function meantExit(state: State, exit: WorkerExit): WorkerExit {
  const killedForSilence = state.kind === 'hung' || (state.kind === 'starting' && state.overdue);
  if (killedForSilence) return { code: null, signal: exit.signal };
  return state.kind === 'draining' ? countedExit(exit, codeAsked(state.purpose), state.killed) : exit;
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

/** After the machine was suspended, every running deadline starts anew. */
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
