// What the steps of the supervisor's machine are made of: pure. transition.ts and requests.ts say when.
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

/** Reading what all processes have open takes a processor for some 10 ms: it begins when a start should be over. */
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

/** Starts a worker where the budget has room, else waits for it. */
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

/** From starting or running: the worker has until the deadline. */
export function drain(machine: Machine, purpose: DrainPurpose, { now }: Moment): Step {
  const { state, limits, run } = machine;
  const upAt = state.kind === 'running' ? state.upAt : undefined;
  const effects = wordFor(purpose, run);
  return to(machine, { kind: 'draining', upAt, deadline: now + limits.stopMs, killed: false, purpose }, effects);
}

/** What a worker is told; an end without a successor closes the door first, because nobody must be kept waiting. */
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

/** The code with which a worker that drains is to end; none where it is ended for something that is no end of its own. */
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
