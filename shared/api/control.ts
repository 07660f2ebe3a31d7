// CLI ↔ supervisor or worker over a local socket: one JSON object a line. Types and guards only; imports nothing.
//
//   C1  Every answer carries `protocol` and `capabilities`; a command that the other side does not know is answered with `not_implemented`, so that old and new work together.
//   C2  A request is one line of at most MAX_REQUEST_BYTES; an answer is one line with the id of its request.

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

/** What a drain left undone when its time was over. */
export interface Cut {
  /** The step, or `handlers` and `sends`: what was at work. */
  readonly name: string;
  /** How many; null where it is not of a kind that is counted. */
  readonly count: number | null;
  readonly reason: string;
}

/** What a reload has come to; from an earlier version without warnings. */
export interface ReloadResult {
  readonly generation: number | null;
  /** Of accounts that cannot work: a generation is committed with them too. */
  readonly warnings?: readonly string[] | undefined;
}

/** One end of a worker, newest last. */
export interface ExitRecord {
  readonly run: number;
  readonly pid: number;
  readonly runtimeId: string | null;
  readonly at: string;
  readonly code: number | null;
  readonly signal: string | null;
  readonly reason: string;
  /** What killed it or what it said last, in a line. */
  readonly detail: string | null;
  readonly wasUp: boolean;
  readonly durationMs: number;
  readonly lastLines: readonly string[];
}

/** The same as `status` tells it: what a supervisor alone sees is null where a worker tells of those before it, and `at` is when the next one started. */
export interface ToldExit extends Omit<ExitRecord, 'run' | 'wasUp' | 'durationMs'> {
  readonly run: number | null;
  readonly wasUp: boolean | null;
  readonly durationMs: number | null;
}

/** What a worker drains for: it was told to stop, to make way for the next one or for the next supervisor, ends by itself, or cannot be served. */
export type DrainKind = 'stop' | 'restart' | 'replace' | 'worker' | 'fail';

/** Answer of `status`, of supervisor and worker alike; fields that a side cannot know are null. */
export interface RuntimeStatus {
  /** A state of the supervisor's machine; a worker without one is `starting`, `running` or `draining`. */
  readonly state: string;
  readonly since: string;
  /** Who starts the worker again: `daemon`, `systemd`, `launchd`, `container`, `pm2`, `foreground`. */
  readonly owner: string;
  /** The owner's own command for a stop, from a worker in the foreground. */
  readonly ownerStop?: string;
  /** For people; `drain` is for programs. */
  readonly reason: string | null;
  /** What a supervisor drains its worker for; null in every other state. A worker does not say. */
  readonly drain?: DrainKind | null;
  readonly pid: number | null;
  readonly supervisorPid: number | null;
  readonly runtimeId: string | null;
  readonly generation: number | null;
  readonly ready: boolean;
  readonly reasons: readonly string[];
  readonly address: { readonly host: string; readonly port: number } | null;
  /** Who holds the listening socket: `supervisor` (kept over restarts), `inherited` (from the owner), `worker`; null when nobody does or an older side does not say. */
  readonly socket?: 'supervisor' | 'inherited' | 'worker' | null;
  /** The spare worker: `none`, `loading` or `ready`; null (or left out by an older side) where none is kept. */
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
  readonly log: string | null;
  readonly mode: string;
  readonly notes: readonly string[];
}

/** A request that is one; else what is wrong with it. */
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
