// Building blocks of the supervisor's transitions. Pure.
import { EXIT } from '../../shared/process/exit-codes.ts';
import {
  type DrainPurpose,
  type Effect,
  type FailureKind,
  type Machine,
  type Moment,
  type State,
  type Step,
} from './machine.ts';
import { recordStart, roomAt, startsLeft } from './restart-window.ts';

/** Reading the open files of all processes takes about 10 ms of CPU. The check is delayed until a start is usually over. */
const SHARER_AFTER_MS = 1_000;
const RELEASE: Effect = { kind: 'release' };

export const unchanged = (machine: Machine): Step => ({ machine, effects: [] });
export const to = (machine: Machine, state: State, effects: readonly Effect[] = []): Step => ({
  machine: { ...machine, state },
  effects,
});
export const stopped = (machine: Machine, code: 0 | 1): Step =>
  to(machine, { kind: 'stopped', code }, [RELEASE, { kind: 'exit', code }]);
export const failed = (machine: Machine, failure: FailureKind, detail: string): Step =>
  to(machine, { kind: 'failed', failure, detail }, [RELEASE]);

/** Starts a worker if the restart budget allows it. Otherwise the start is deferred until the budget does. */
export function begin(machine: Machine, { now }: Moment): Step {
  const { window, limits } = machine;
  if (startsLeft(window, now, limits) === 0)
    return to(machine, { kind: 'deferred', until: roomAt(window, now, limits) });
  const run = machine.run + 1;
  const state: State = { kind: 'starting', deadline: now + limits.upMs, overdue: false };
  return {
    machine: { ...machine, run, window: recordStart(window, now), state },
    effects: [{ kind: 'spawn', run, sharerAfterMs: run > 1 ? SHARER_AFTER_MS : undefined }],
  };
}

/** Called in starting or running. The worker has until the deadline to end. */
export function drain(machine: Machine, purpose: DrainPurpose, { now }: Moment): Step {
  const { state, limits, run } = machine;
  const upAt = state.kind === 'running' ? state.upAt : undefined;
  const effects = wordFor(purpose, run);
  return to(machine, { kind: 'draining', upAt, deadline: now + limits.stopMs, killed: false, purpose }, effects);
}

/** Tells the worker to end. If no worker follows, the socket is closed first, so that no client waits for an answer that never comes. */
export function wordFor(purpose: DrainPurpose, run: number): readonly Effect[] {
  switch (purpose.kind) {
    case 'stop':
      return [RELEASE, { kind: 'ask_stop', run, purpose: 'stop' }];
    case 'restart':
    case 'replace':
      return [{ kind: 'ask_stop', run, purpose: 'restart' }];
    case 'worker':
      return purpose.code === 0 ? [RELEASE] : [];
    case 'fail':
      return [];
  }
}

/** The exit code that a draining worker was asked for. Undefined if the worker is ended because of a failure. */
export function codeAsked(purpose: DrainPurpose): number | undefined {
  switch (purpose.kind) {
    case 'stop':
      return EXIT.ok;
    case 'restart':
    case 'replace':
      return EXIT.restartRequested;
    case 'worker':
      return purpose.code;
    case 'fail':
      return undefined;
  }
}

export function killNow(machine: Machine, cause: string): Step {
  const { state, run } = machine;
  if (state.kind !== 'draining') return unchanged(machine);
  return to(machine, { ...state, killed: true }, [{ kind: 'kill', run, cause }]);
}

export const handOver = (machine: Machine): Step => to(machine, { kind: 'checking' }, [{ kind: 'hand_over' }]);
