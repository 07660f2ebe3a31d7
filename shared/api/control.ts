// Protocol between the CLI and a supervisor or worker over a local socket: one JSON object a line. Types and guards only; no imports.
//
//   CONTROL-1  Every answer carries `protocol` and `capabilities`. An unknown command is answered with an error, so versions can be mixed.
//   CONTROL-2  A request is one line of at most MAX_REQUEST_BYTES. An answer is one line with the id of its request.

export const CONTROL_PROTOCOL = 1;
export const MAX_REQUEST_BYTES = 64 * 1024;

export type ControlCommand =
  | 'hello'
  | 'status'
  | 'start'
  | 'stop'
  | 'restart'
  | 'reload'
  | 'logs'
  | 'mask'
  | 'replace'
  | 'check'
  | 'check_code';

export interface ControlRequest {
  readonly id: number;
  readonly protocol: number;
  readonly command: string;
  readonly options?: Readonly<Record<string, unknown>>;
}

export interface ControlAnswer {
  readonly id: number;
  readonly protocol: number;
  readonly capabilities: readonly string[];
  readonly ok: boolean;
  readonly result?: unknown;
  readonly error?: { readonly code: string; readonly message: string; readonly hint?: string };
}

/** Work that a drain cut when its time was over. */
export interface Cut {
  /** The drain step, or `handlers` or `sends` for running work. */
  readonly name: string;
  /** Null if this kind of work is not counted. */
  readonly count: number | null;
  readonly reason: string;
}

/** Result of a reload. An older version sends no warnings. */
export interface ReloadResult {
  readonly generation: number | null;
  /** About accounts that cannot work. The generation is committed nevertheless. */
  readonly warnings?: readonly string[] | undefined;
}

/** The end of one worker. Lists have the newest last. */
export interface ExitRecord {
  readonly run: number;
  readonly pid: number;
  readonly runtimeId: string | null;
  readonly at: string;
  readonly code: number | null;
  readonly signal: string | null;
  readonly reason: string;
  /** Cause of the kill or the worker's last message, in one line. */
  readonly detail: string | null;
  readonly wasUp: boolean;
  readonly durationMs: number;
  readonly lastLines: readonly string[];
}

/**
 * An exit as `status` shows it. A worker that reports former workers has null for the fields only a supervisor sees.
 * In that case `at` is the start of the next worker.
 */
export interface ToldExit extends Omit<ExitRecord, 'run' | 'wasUp' | 'durationMs'> {
  readonly run: number | null;
  readonly wasUp: boolean | null;
  readonly durationMs: number | null;
}

/** Why a worker drains: stop, restart, replacement of its supervisor, an end by itself, or an address that cannot be served. */
export type DrainKind = 'stop' | 'restart' | 'replace' | 'worker' | 'fail';

/** Accounts that are enabled. */
export interface AccountsStatus {
  readonly total: number;
  readonly online: number;
  /** Some of those that are not online, the longest first. */
  readonly others: readonly { readonly name: string; readonly state: string; readonly since: string }[];
}

/** Answer of `status`, from supervisors and workers alike. Fields unknown to the sender are null. */
export interface RuntimeStatus {
  /** A state of the supervisor's machine. A worker without a supervisor is `starting`, `running` or `draining`. */
  readonly state: string;
  readonly since: string;
  /** The process manager that restarts the worker: `daemon`, `systemd`, `launchd`, `container`, `pm2`, `foreground`. */
  readonly owner: string;
  /** The process manager's own stop command, sent by a worker in the foreground. */
  readonly ownerStop?: string;
  /** Text for people; programs use `drain`. */
  readonly reason: string | null;
  /** Why a supervisor drains its worker. Null in every other state; a worker leaves it out. */
  readonly drain?: DrainKind | null;
  readonly pid: number | null;
  readonly supervisorPid: number | null;
  readonly runtimeId: string | null;
  readonly generation: number | null;
  readonly ready: boolean;
  readonly reasons: readonly string[];
  readonly address: { readonly host: string; readonly port: number } | null;
  /**
   * Holder of the listening socket: `supervisor` (kept over restarts), `inherited` (from the process manager) or `worker`.
   * Null if none holds it; an older sender leaves it out.
   */
  readonly socket?: 'supervisor' | 'inherited' | 'worker' | null;
  /** The spare worker: `none`, `loading` or `ready`. Null if none is configured; an older sender leaves it out. */
  readonly standby?: 'none' | 'loading' | 'ready' | null;
  readonly startedAt: string | null;
  readonly version: string | null;
  readonly configVersion: string | null;
  readonly budget: {
    readonly limit: number;
    readonly left: number;
    readonly windowMs: number;
    readonly nextStartAt: string | null;
  } | null;
  readonly exits: readonly ToldExit[];
  /** Dead letters; of the outbox also sends of unknown outcome. Null if they cannot be counted. Only a worker tells them. */
  readonly dead?: { readonly inbox: number; readonly outbox: number } | null;
  /** Null while no generation serves. Only a worker tells them. */
  readonly accounts?: AccountsStatus | null;
  readonly log: string | null;
  readonly mode: string;
  readonly notes: readonly string[];
}

/** Parses a request, or describes its fault. */
export function parseRequest(line: string): ControlRequest | { readonly fault: string } {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return { fault: 'not JSON' };
  }
  if (typeof value !== 'object' || value === null) return { fault: 'not an object' };
  const { id, protocol, command, options } = value as Record<string, unknown>;
  if (typeof id !== 'number' || typeof protocol !== 'number' || typeof command !== 'string')
    return { fault: 'id, protocol or command is missing' };
  if (options !== undefined && (typeof options !== 'object' || options === null))
    return { fault: 'options is not an object' };
  return {
    id,
    protocol,
    command,
    ...(options === undefined ? {} : { options: options as Readonly<Record<string, unknown>> }),
  };
}
