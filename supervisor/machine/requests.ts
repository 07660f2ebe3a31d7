// Answers the requests stop, restart, start and replace in each state of the supervisor's machine. Pure.
import type { DrainPurpose, Machine, Moment, State, Step } from './machine.ts';
import { EMPTY_WINDOW } from './restart-window.ts';
import { begin, drain, handOver, killNow, stopped, to, unchanged, wordFor } from './steps.ts';

const STOP: DrainPurpose = { kind: 'stop' };
const RESTART: DrainPurpose = { kind: 'restart' };
const REPLACE: DrainPurpose = { kind: 'replace' };

export function onStop(machine: Machine, atOnce: boolean, moment: Moment): Step {
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
      return to(machine, { ...state, purpose: STOP }, state.purpose.kind === 'stop' ? [] : wordFor(STOP, run));
    }
    case 'locking':
    case 'checking':
    case 'backing_off':
    case 'deferred':
    case 'failed':
      return stopped(machine, 0);
  }
}

export function onRestart(machine: Machine, moment: Moment): Step {
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

/** A start request is satisfied if a worker runs or is about to start. */
export function onStart(machine: Machine, moment: Moment): Step {
  const { kind } = machine.state;
  const waits = kind === 'backing_off' || kind === 'deferred' || kind === 'failed';
  return waits ? onRestart(machine, moment) : unchanged(machine);
}

/** States that end by themselves. A successor might wait forever in them, so a replacement is refused. */
export const isOnItsWay = (state: State): boolean =>
  state.kind === 'locking' ||
  state.kind === 'checking' ||
  state.kind === 'stopped' ||
  (state.kind === 'draining' && state.purpose.kind === 'stop');

export function onReplace(machine: Machine, moment: Moment): Step {
  const { state } = machine;
  switch (state.kind) {
    case 'starting':
    case 'running':
      return drain(machine, REPLACE, moment);
    case 'hung':
      return killNow(to(machine, { ...state, kind: 'draining', purpose: REPLACE }).machine, 'hung');
    case 'draining':
      return state.purpose.kind === 'stop' ? unchanged(machine) : to(machine, { ...state, purpose: REPLACE });
    case 'backing_off':
    case 'deferred':
      return handOver(machine);
    case 'failed':
      return handOver({ ...machine, window: EMPTY_WINDOW });
    case 'locking':
    case 'checking':
    case 'stopped':
      return unchanged(machine);
  }
}
