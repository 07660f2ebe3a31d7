// Messages between supervisor and worker over their IPC channel, one JSON object each. Types and guards only; no imports.
//
//   IPC-1  The first message of either side carries `protocol` and `capabilities`. Unknown message types are ignored, so either side may be newer.
//   IPC-2  Capability `listen`: such a worker waits for a socket from the supervisor, and such a supervisor sends one.
//   IPC-3  Secrets go to the worker in `welcome`, to a spare in `prepare`, and never in the environment or arguments.
//          The worker reports all secrets it knows, also those of `.env`, in `secrets`. The supervisor masks them in crash reports.

export const IPC_PROTOCOL = 1;
export const WORKER_CAPABILITIES = [
  'settings',
  'progress',
  'heartbeat',
  'ready',
  'stopping',
  'reopen_logs',
  'reload',
  'report',
  'listen',
  'prepare',
  'prepared',
] as const;

/** Settings that the supervisor needs from the configuration, which it does not read. */
export interface SupervisorSettings {
  readonly restarts: number;
  readonly windowMs: number;
  readonly upMs: number;
  readonly watchdogMs: number;
  readonly stopMs: number;
  readonly logBytes: number;
  readonly logFiles: number;
  readonly configVersion: string;
  /** The host's name, for the log. Left out by a worker or a command of before. */
  readonly project?: string;
  /** Listen address of the worker. Port 0 means any free port. */
  readonly host: string;
  readonly port: number;
  /** Whether a spare worker is kept. Default false. */
  readonly standby?: boolean;
  /** Delays after the n-th crash in a row, in ms. Not a configuration key. Default 0, 1, 4 and 16 s. */
  readonly delaysMs?: readonly number[];
}

export interface ListenAddress {
  /** An IP literal. */
  readonly host: string;
  readonly port: number;
}

/** How the previous worker ended. `end` is `first` if there was none. */
export interface PreviousEnd {
  readonly end: string;
  readonly code: number | null;
  readonly signal: string | null;
  readonly detail: string | null;
  /** Id of the worker that ended. Null if it ended before it reported one; left out if unknown. */
  readonly runtimeId?: string | null;
}

/** A period in which the log took no lines. */
export interface LogOutage {
  readonly lostLines: number;
  /** Lines that reached the log late. */
  readonly lateLines: number;
  readonly from: string;
  readonly to: string;
  readonly reason: string;
}

export type WorkerMessage =
  | {
      readonly type: 'hello';
      readonly protocol: number;
      readonly capabilities: readonly string[];
      readonly runtimeId: string;
      readonly version: string;
    }
  /** A spare has prepared what it was told to. */
  | { readonly type: 'prepared' }
  | { readonly type: 'settings'; readonly settings: SupervisorSettings }
  /** Texts to mask. Each is sent once. */
  | { readonly type: 'secrets'; readonly values: readonly string[] }
  | { readonly type: 'progress'; readonly what: string }
  | { readonly type: 'up'; readonly host: string | null; readonly port: number | null }
  | { readonly type: 'heartbeat' }
  | {
      readonly type: 'ready';
      readonly ready: boolean;
      readonly generation: number | null;
      readonly reasons: readonly string[];
    }
  | {
      readonly type: 'stopping';
      readonly code: number;
      readonly reason: string;
      /** The worker has finished a pending switch at its start, so it ends before it is up. */
      readonly switched?: boolean;
    }
  /** Why this worker is about to exit, in one line. Shown with its exit. */
  | { readonly type: 'failure'; readonly message: string }
  /** Lines that the worker could not log before its exit. */
  | ({ readonly type: 'log_lost' } & LogOutage)
  | {
      readonly type: 'reloaded';
      readonly id: number;
      readonly ok: boolean;
      readonly generation: number | null;
      /** An older worker leaves it out. */
      readonly warnings?: readonly string[];
      readonly error: { readonly code: string; readonly message: string; readonly hint?: string | undefined } | null;
    };

export type SupervisorMessage =
  | {
      readonly type: 'welcome';
      readonly protocol: number;
      readonly capabilities: readonly string[];
      readonly environment: Readonly<Record<string, string>>;
      readonly previous: PreviousEnd;
      readonly run: number;
      /** Address of the bound socket sent with this message. Null if none is sent; an older supervisor leaves it out. */
      readonly listen?: ListenAddress | null;
    }
  /** For a spare: what it may prepare before `welcome` makes it the worker. */
  | { readonly type: 'prepare'; readonly environment: Readonly<Record<string, string>> }
  /** Sent with the bound socket for the address in the worker's own `settings`. */
  | ({ readonly type: 'listen' } & ListenAddress)
  | { readonly type: 'stop'; readonly purpose: 'stop' | 'restart' }
  | { readonly type: 'reload'; readonly id: number; readonly orRestart: boolean }
  | { readonly type: 'reopen_logs' };

const WORKER_TYPES: ReadonlySet<string> = new Set<WorkerMessage['type']>([
  'hello',
  'prepared',
  'settings',
  'secrets',
  'progress',
  'up',
  'heartbeat',
  'ready',
  'stopping',
  'failure',
  'log_lost',
  'reloaded',
]);
const SUPERVISOR_TYPES: ReadonlySet<string> = new Set<SupervisorMessage['type']>([
  'welcome',
  'prepare',
  'listen',
  'stop',
  'reload',
  'reopen_logs',
]);

/** Checks the type only: the sender runs some version of this code. */
export function asWorkerMessage(value: unknown): WorkerMessage | undefined {
  return hasType(value, WORKER_TYPES) ? (value as WorkerMessage) : undefined;
}

export function asSupervisorMessage(value: unknown): SupervisorMessage | undefined {
  return hasType(value, SUPERVISOR_TYPES) ? (value as SupervisorMessage) : undefined;
}

const hasType = (value: unknown, types: ReadonlySet<string>): boolean =>
  typeof value === 'object' &&
  value !== null &&
  'type' in value &&
  typeof value.type === 'string' &&
  types.has(value.type);
