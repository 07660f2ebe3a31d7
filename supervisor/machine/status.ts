// Builds the answer of `runtime status` under --daemon from the machine and the worker's messages. Pure except for this process's pid.
import type { ExitRecord, RuntimeStatus } from '../../shared/api/control.ts';
import { type DrainPurpose, deadlineOf, hasRun, type Machine } from './machine.ts';
import { startsLeft } from './restart-window.ts';

/** Facts about the current worker, from its messages. */
export interface WorkerFacts {
  readonly run: number;
  readonly pid: number;
  readonly startedAt: string;
  readonly runtimeId: string | null;
  readonly version: string | null;
  readonly ready: boolean;
  readonly generation: number | null;
  readonly reasons: readonly string[];
  readonly address: { readonly host: string; readonly port: number } | null;
  /** The reason that the worker gave for its coming exit. */
  readonly failure: string | null;
  readonly progress: string | null;
}

export interface StatusFacts {
  readonly machine: Machine;
  readonly since: string;
  readonly worker: WorkerFacts | undefined;
  readonly exits: readonly ExitRecord[];
  /** Whether the supervisor holds the listening socket. */
  readonly socket: boolean;
  readonly standby: 'none' | 'loading' | 'ready' | null;
  readonly configVersion: string | null;
  readonly log: string;
  readonly mode: string;
  readonly notes: readonly string[];
  /** Monotonic and wall-clock milliseconds at the same moment. */
  readonly now: { readonly monotonic: number; readonly wall: number };
}

export function runtimeStatus({
  machine,
  since,
  worker,
  exits,
  socket,
  standby,
  configVersion,
  log,
  mode,
  notes,
  now,
}: StatusFacts): RuntimeStatus {
  const { state, window, limits } = machine;
  const due = state.kind === 'backing_off' || state.kind === 'deferred' ? deadlineOf(machine) : undefined;
  const live = worker !== undefined && hasRun(state);
  return {
    state: state.kind,
    since,
    owner: 'daemon',
    reason: reasonOf(machine, { worker, exits, now: now.monotonic }),
    drain: state.kind === 'draining' ? state.purpose.kind : null,
    pid: live ? worker.pid : null,
    supervisorPid: process.pid,
    runtimeId: live ? worker.runtimeId : null,
    generation: live ? worker.generation : null,
    ready: live && state.kind === 'running' && worker.ready,
    reasons: live ? worker.reasons : [],
    address: live ? worker.address : null,
    socket: socket ? 'supervisor' : live && worker.address !== null ? 'worker' : null,
    standby,
    startedAt: live ? worker.startedAt : null,
    version: live ? worker.version : null,
    configVersion,
    budget: {
      limit: limits.starts,
      left: startsLeft(window, now.monotonic, limits),
      windowMs: limits.spanMs,
      nextStartAt: due === undefined ? null : new Date(now.wall + Math.max(0, due - now.monotonic)).toISOString(),
    },
    exits,
    log,
    mode,
    notes,
  };
}

function drainReason(purpose: DrainPurpose): string {
  switch (purpose.kind) {
    case 'worker':
      return `the worker ends with ${purpose.code}`;
    case 'fail':
      return purpose.detail;
    case 'replace':
      return 'the supervisor is being replaced';
    case 'stop':
    case 'restart':
      return `${purpose.kind} requested`;
  }
}

/** How long a start waits for the restart budget, and why. */
export function deferredText({ state, limits }: Machine, now: number): string {
  const waitS = state.kind === 'deferred' ? Math.ceil(Math.max(0, state.until - now) / 1_000) : 0;
  return `${limits.starts} starts within ${limits.spanMs / 1_000} s: waits ${waitS} s for the oldest to leave the window`;
}

/** Fields that a log line adds to the state's name. */
export function stateFields(machine: Machine, now: number): Readonly<Record<string, unknown>> {
  const { state } = machine;
  switch (state.kind) {
    case 'failed':
      return { failure: state.failure, detail: state.detail };
    case 'backing_off':
      return { waitMs: Math.round(state.until - now) };
    case 'deferred':
      return {
        waitMs: Math.round(state.until - now),
        reason: `${deferredText(machine, now)}; \`svc runtime restart\` starts it now`,
      };
    default:
      return {};
  }
}

function reasonOf(
  machine: Machine,
  {
    worker,
    exits,
    now,
  }: { readonly worker: WorkerFacts | undefined; readonly exits: readonly ExitRecord[]; readonly now: number },
): string | null {
  const { state, limits } = machine;
  const last = exits.at(-1);
  switch (state.kind) {
    case 'failed':
      return state.failure === 'storm'
        ? `${limits.starts} starts within ${limits.spanMs / 1_000} s, the last ended with: ${state.detail}`
        : state.detail;
    case 'backing_off':
      return last === undefined ? null : `waiting after a crash: ${last.detail ?? last.reason}`;
    case 'deferred':
      return deferredText(machine, now);
    case 'hung':
      return `no heartbeat for ${limits.watchdogMs / 1_000} s`;
    case 'draining':
      return drainReason(state.purpose);
    case 'starting':
      return worker?.progress ?? null;
    case 'locking':
    case 'checking':
    case 'running':
    case 'stopped':
      return null;
  }
}
