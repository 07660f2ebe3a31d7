// What the supervisor's machine is made of: states, events, effects, limits. Data only; transition.ts decides over it.
import type { WorkerExit } from './exit-reason.ts';
import { DEFAULT_LIMITS, EMPTY_WINDOW, type RestartLimits, type RestartWindow } from './restart-window.ts';

export interface Limits extends RestartLimits {
  /** Not up within this long: killed. Default 30 000. */
  readonly upMs: number;
  /** No heartbeat for this long: hung. Default 15 000. */
  readonly watchdogMs: number;
  /** How long a silent worker has, after the report on it, before the kill. Default 2 000. */
  readonly reportMs: number;
  /** How long a drain may take. Default 8 000. */
  readonly stopMs: number;
}

export type FailureKind = 'storm' | 'config' | 'spawn' | 'leftover' | 'owner' | 'port';

/** Why a worker drains: it was told to, it said so itself and with which code it is going to end, or it cannot be served and is ended before `failed`. */
export type DrainPurpose =
  | { readonly kind: 'stop' | 'restart' | 'replace' }
  | { readonly kind: 'worker'; readonly code: number }
  | { readonly kind: 'fail'; readonly failure: FailureKind; readonly detail: string };

export type State =
  | { readonly kind: 'locking' }
  | { readonly kind: 'checking' }
  | { readonly kind: 'starting'; readonly deadline: number; readonly overdue: boolean }
  | { readonly kind: 'running'; readonly upAt: number; readonly heardAt: number }
  | { readonly kind: 'hung'; readonly upAt: number; readonly deadline: number; readonly killed: boolean }
  | {
      readonly kind: 'draining';
      readonly upAt: number | undefined;
      readonly deadline: number;
      readonly killed: boolean;
      readonly purpose: DrainPurpose;
    }
  | { readonly kind: 'backing_off'; readonly until: number }
  | { readonly kind: 'deferred'; readonly until: number }
  | { readonly kind: 'failed'; readonly failure: FailureKind; readonly detail: string }
  | { readonly kind: 'stopped'; readonly code: 0 | 1 };

export interface Machine {
  readonly state: State;
  readonly window: RestartWindow;
  readonly limits: Limits;
  /** Number of the current or last worker of this supervisor; 0 before the first. */
  readonly run: number;
}

export type Event =
  | { readonly kind: 'lock_held' }
  | { readonly kind: 'clear' }
  | { readonly kind: 'stuck'; readonly failure: FailureKind; readonly detail: string }
  /** `code`: of the error, as Node names it. */
  | { readonly kind: 'spawn_failed'; readonly run: number; readonly code: string; readonly detail: string }
  /** The worker has told where it is to listen. */
  | { readonly kind: 'address_told'; readonly run: number }
  /** The address that a starting worker has asked for cannot be bound. */
  | { readonly kind: 'address_taken'; readonly run: number; readonly detail: string }
  /** A process that an earlier worker left behind has the listening socket, too. */
  | { readonly kind: 'address_shared'; readonly run: number; readonly detail: string }
  | { readonly kind: 'up' | 'progress' | 'heartbeat'; readonly run: number }
  | { readonly kind: 'worker_stopping'; readonly run: number; readonly code: number }
  | {
      readonly kind: 'exited';
      readonly run: number;
      readonly exit: WorkerExit;
      readonly detail: string;
      /** The worker of another owner that has the project by now. */
      readonly beside?: string | undefined;
    }
  | { readonly kind: 'stop'; readonly now: boolean }
  /** `start`: nothing to do where a worker is there, or on its way. */
  | { readonly kind: 'restart' | 'start' }
  /** Another supervisor is ready to take the place of this one. */
  | { readonly kind: 'replace' }
  | { readonly kind: 'handed_over' | 'handover_failed' }
  /** The supervisor's own timer was late by seconds: the machine slept. */
  | { readonly kind: 'clock_jump' }
  | { readonly kind: 'limits'; readonly limits: Limits }
  | { readonly kind: 'tick' };

export type Effect =
  /** `final`: the known address is the configured one, so that a taken port ends the start; else the next worker tells which it is. */
  | { readonly kind: 'check'; readonly final: boolean }
  /** The listening socket is closed: there is nothing that a waiting connection could wait for. */
  | { readonly kind: 'release' }
  /** `sharerAfterMs`: when to look whether a worker before it left the socket to somebody; undefined where there was none. */
  | { readonly kind: 'spawn'; readonly run: number; readonly sharerAfterMs: number | undefined }
  /** The address that the worker has told is bound, and handed to it. */
  | { readonly kind: 'serve'; readonly run: number }
  | { readonly kind: 'ask_stop'; readonly run: number; readonly purpose: 'stop' | 'restart' }
  | { readonly kind: 'write_report'; readonly run: number }
  | { readonly kind: 'kill'; readonly run: number; readonly cause: string }
  /** Lock, socket and budget go to the supervisor that is waiting for them. */
  | { readonly kind: 'hand_over' }
  | { readonly kind: 'exit'; readonly code: 0 | 1 };

export interface Step {
  readonly machine: Machine;
  readonly effects: readonly Effect[];
}

export interface Moment {
  /** Monotonic milliseconds. */
  readonly now: number;
  /** In [0, 1), for the spread of delays. */
  readonly random: number;
}

export const DEFAULT_MACHINE_LIMITS: Limits = {
  ...DEFAULT_LIMITS,
  upMs: 30_000,
  watchdogMs: 15_000,
  reportMs: 2_000,
  stopMs: 8_000,
};

export const newMachine = (limits: Limits, window: RestartWindow = EMPTY_WINDOW): Machine => ({
  state: { kind: 'locking' },
  window,
  limits,
  run: 0,
});

/** When `tick` is due next; undefined when nothing is waited for but events. */
export function deadlineOf({ state, limits }: Machine): number | undefined {
  switch (state.kind) {
    case 'starting':
      return state.overdue ? undefined : state.deadline;
    case 'running':
      return state.heardAt + limits.watchdogMs;
    case 'hung':
    case 'draining':
      return state.killed ? undefined : state.deadline;
    case 'backing_off':
    case 'deferred':
      return state.until;
    case 'locking':
    case 'checking':
    case 'failed':
    case 'stopped':
      return undefined;
  }
}

/** A timer that comes this late was held up by a sleep of the machine, not by work. */
const JUMP_MS = 2_000;
export const isClockJump = (lateMs: number): boolean => lateMs > JUMP_MS;

/** Whether a worker process belongs to the state. */
export const hasRun = (state: State): state is Extract<State, { kind: 'starting' | 'running' | 'hung' | 'draining' }> =>
  state.kind === 'starting' || state.kind === 'running' || state.kind === 'hung' || state.kind === 'draining';

/** Whether its end alone is waited for. */
export const isKilled = (state: State): boolean =>
  state.kind === 'starting' ? state.overdue : (state.kind === 'hung' || state.kind === 'draining') && state.killed;
