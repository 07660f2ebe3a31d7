// Supervisor ↔ worker: the messages over the IPC channel, one JSON object each. Types and guards only; imports nothing.
//
//   I1  The first message of either side carries `protocol` and `capabilities`; an unknown message type is ignored, so that either side may be newer.
//   I2  A side that names the capability `listen`: a worker waits for the socket that it is handed, a supervisor hands one over.
//   I3  Secrets go to the worker in `welcome`, or to a spare in `prepare`; never in its environment or arguments. The worker tells all that
//       it has come to know (those of `.env` among them) in `secrets`: the supervisor keeps them out of what it shows of a crash.

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

/** What the supervisor needs of the configuration; it reads none itself. */
export interface SupervisorSettings {
  readonly restarts: number;
  readonly windowMs: number;
  readonly upMs: number;
  readonly watchdogMs: number;
  readonly stopMs: number;
  readonly logBytes: number;
  readonly logFiles: number;
  readonly configVersion: string;
  /** Where the worker is going to listen; port 0: anywhere. */
  readonly host: string;
  readonly port: number;
  /** Whether a spare worker is kept. Default false. */
  readonly standby?: boolean;
  /** Delays of the n-th crash in a row; not a key of the configuration. Default 0, 1, 4, 16 s. */
  readonly delaysMs?: readonly number[];
}

export interface ListenAddress {
  /** An IP literal. */
  readonly host: string;
  readonly port: number;
}

/** How the worker before this one ended; `end` is `first` where there was none. */
export interface PreviousEnd {
  readonly end: string;
  readonly code: number | null;
  readonly signal: string | null;
  readonly detail: string | null;
  /** Whose end it is; null: of one that ended before it said who it was. Left out: not known. */
  readonly runtimeId?: string | null;
}

/** A time in which the log took no lines. */
export interface LogOutage {
  readonly lostLines: number;
  /** Lines that are in the log, but came late. */
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
  /** A spare has made ready what it was told to. */
  | { readonly type: 'prepared' }
  | { readonly type: 'settings'; readonly settings: SupervisorSettings }
  /** Texts that must not be shown; each once. */
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
  | { readonly type: 'stopping'; readonly code: number; readonly reason: string }
  /** Why this worker is about to end, in a line: shown with its exit. */
  | { readonly type: 'failure'; readonly message: string }
  /** What it could not get into the log up to its end. */
  | ({ readonly type: 'log_lost' } & LogOutage)
  | {
      readonly type: 'reloaded';
      readonly id: number;
      readonly ok: boolean;
      readonly generation: number | null;
      /** Left out by an older worker. */
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
      /** The address whose bound socket comes with this message; null (or left out by an older supervisor): none does. */
      readonly listen?: ListenAddress | null;
    }
  /** To a spare: what it may make ready before its turn, which `welcome` is. */
  | { readonly type: 'prepare'; readonly environment: Readonly<Record<string, string>> }
  /** The bound socket of the address in the worker's own `settings` comes with this message. */
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

/** The other end runs our own code of some version: the type is checked, fields are not. */
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
