// The states of the supervisor's machine, one of each kind, for tests that step from them.
import {
  DEFAULT_MACHINE_LIMITS,
  type Event,
  type Machine,
  newMachine,
  type State,
} from '../../../supervisor/machine/machine.ts';

export const LIMITS = DEFAULT_MACHINE_LIMITS;
export const AT = { now: 1_000_000, random: 0 };
export const machine = (state: State, starts: readonly number[] = [AT.now]): Machine => ({
  ...newMachine(LIMITS, { starts, crashesInRow: 0 }),
  state,
  run: 1,
});
export const exited = (code: number | null, signal: string | null = null) => ({
  kind: 'exited' as const,
  run: 1,
  exit: { code, signal },
  detail: 'why',
});
export const unspawned = (code: string) => ({ kind: 'spawn_failed' as const, run: 1, code, detail: `spawn ${code}` });

export const STARTING = { kind: 'starting', deadline: AT.now + LIMITS.upMs, overdue: false } satisfies State;
export const OVERDUE = { ...STARTING, overdue: true } satisfies State;
export const RUNNING = { kind: 'running', upAt: AT.now, heardAt: AT.now } satisfies State;
export const HUNG = { kind: 'hung', upAt: AT.now, deadline: AT.now, killed: false } satisfies State;
export const DRAINING = {
  kind: 'draining',
  upAt: AT.now,
  deadline: AT.now + LIMITS.stopMs,
  killed: false,
  purpose: { kind: 'stop' },
} satisfies State;
export const RESTARTING = { ...DRAINING, purpose: { kind: 'restart' } } satisfies State;
export const REPLACING = { ...DRAINING, purpose: { kind: 'replace' } } satisfies State;
export const LEAVING = { ...DRAINING, purpose: { kind: 'worker', code: 51 } } satisfies State;
/** Has finished a switch at its start, before it was up. */
export const SWITCHING = { ...DRAINING, upAt: undefined, purpose: { kind: 'worker', code: 75 } } satisfies State;
export const CONDEMNED = {
  ...DRAINING,
  killed: true,
  purpose: { kind: 'fail', failure: 'port', detail: 'taken' },
} satisfies State;
export const WAITING = { kind: 'backing_off', until: AT.now } satisfies State;
export const DEFERRED = { kind: 'deferred', until: AT.now } satisfies State;
export const FAILED = { kind: 'failed', failure: 'storm', detail: '' } satisfies State;
export const SPENT = [1, 2, 3, 4, 5].map((n) => AT.now - n);

export const TOLD: Event = { kind: 'address_told', run: 1 };
export const SWITCHED = { kind: 'worker_stopping' as const, run: 1, code: 75, switched: true };
