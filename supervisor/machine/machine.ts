// Data of the supervisor's state machine: states, events, effects and limits. The transition function in this folder decides.
import type { WorkerExit } from './exit-reason.ts';
import { DEFAULT_LIMITS, EMPTY_WINDOW, type RestartLimits, type RestartWindow } from './restart-window.ts';

export interface Limits extends RestartLimits {
  /** Limit for a worker to come up, in ms. A later worker is killed. Default 30 000. */
  readonly upMs: number;
  /** Longest silence of a worker in ms before it counts as hung. Default 15 000. */
  readonly watchdogMs: number;
  /** Time in ms between the report on a hung worker and its kill. Default 2 000. */
  readonly reportMs: number;
  /** Limit for a drain in ms. Default 8 000. */
  readonly stopMs: number;
}

export type FailureKind = 'storm' | 'config' | 'spawn' | 'leftover' | 'owner' | 'port';

/** Why a worker drains: a command asked for it, the worker announced its exit code, or its address cannot be served. */
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
  /** Number of the current or last worker of this supervisor. 0 before the first worker. */
  readonly run: number;
}

export type Event =
  | { readonly kind: 'lock_held' }
  | { readonly kind: 'clear' }
  | { readonly kind: 'stuck'; readonly failure: FailureKind; readonly detail: string }
  /** `code` is Node's error code, such as EAGAIN. */
  | { readonly kind: 'spawn_failed'; readonly run: number; readonly code: string; readonly detail: string }
  /** The worker has reported the address on which it will listen. */
  | { readonly kind: 'address_told'; readonly run: number }
  /** The address that a starting worker reported cannot be bound. */
  | { readonly kind: 'address_taken'; readonly run: number; readonly detail: string }
  /** A process that an earlier worker left behind also holds the listening socket. */
  | { readonly kind: 'address_shared'; readonly run: number; readonly detail: string }
  | { readonly kind: 'up' | 'progress' | 'heartbeat'; readonly run: number }
  /** `switched`: the worker has finished a pending switch at its start. */
  | {
      readonly kind: 'worker_stopping';
      readonly run: number;
      readonly code: number;
      readonly switched?: boolean | undefined;
    }
  | {
      readonly kind: 'exited';
      readonly run: number;
      readonly exit: WorkerExit;
      readonly detail: string;
      /** Set when a worker of another owner, such as systemd, now runs the project: names that worker. */
      readonly beside?: string | undefined;
    }
  | { readonly kind: 'stop'; readonly now: boolean }
  /** `start` changes nothing if a worker runs or is about to start. */
  | { readonly kind: 'restart' | 'start' }
  /** Another supervisor is ready to replace this one. */
  | { readonly kind: 'replace' }
  | { readonly kind: 'handed_over' | 'handover_failed' }
  /** A timer of the supervisor fired seconds late: the machine was suspended. */
  | { readonly kind: 'clock_jump' }
  | { readonly kind: 'limits'; readonly limits: Limits }
  | { readonly kind: 'tick' };

export type Effect =
  /** `final`: the known address is the configured one, so a port in use fails the start. Otherwise the next worker reports its address. */
  | { readonly kind: 'check'; readonly final: boolean }
  /** Closes the listening socket. Nothing will serve the connections that wait in its queue. */
  | { readonly kind: 'release' }
  /** `sharerAfterMs`: delay before a check for processes of an earlier worker that still hold the socket. Undefined for the first worker. */
  | { readonly kind: 'spawn'; readonly run: number; readonly sharerAfterMs: number | undefined }
  /** Binds the address that the worker reported and hands the socket to the worker. */
  | { readonly kind: 'serve'; readonly run: number }
  | { readonly kind: 'ask_stop'; readonly run: number; readonly purpose: 'stop' | 'restart' }
  | { readonly kind: 'write_report'; readonly run: number }
  | { readonly kind: 'kill'; readonly run: number; readonly cause: string }
  /** Passes the instance lock, the socket and the restart budget to the waiting supervisor. */
  | { readonly kind: 'hand_over' }
  | { readonly kind: 'exit'; readonly code: 0 | 1 };

export interface Step {
  readonly machine: Machine;
  readonly effects: readonly Effect[];
}

export interface Moment {
  /** Monotonic milliseconds. */
  readonly now: number;
  /** In [0, 1). Adds jitter to delays. */
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

/** When `tick` is due next. Undefined if only events can change the state. */
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

/** A timer that is later than this was delayed by a suspended machine, not by load. */
const JUMP_MS = 2_000;
export const isClockJump = (lateMs: number): boolean => lateMs > JUMP_MS;

/** Whether the state has a worker process. */
export const hasRun = (state: State): state is Extract<State, { kind: 'starting' | 'running' | 'hung' | 'draining' }> =>
  state.kind === 'starting' || state.kind === 'running' || state.kind === 'hung' || state.kind === 'draining';

/** Whether the worker was killed and only its exit is awaited. */
export const isKilled = (state: State): boolean =>
  state.kind === 'starting' ? state.overdue : (state.kind === 'hung' || state.kind === 'draining') && state.killed;
