// Interface of `svc service` to the process managers systemd and launchd.
//
//   SERVICE-1  The project's data is not touched. A service consists only of the process manager's files and state.
//   SERVICE-2  A repeated install changes nothing. Differences are shown before a file is replaced.
//   SERVICE-3  Answers report what the process manager says, not what was requested.

export type Scope = 'system' | 'user';

export interface ServiceFile {
  readonly path: string;
  readonly text: string;
}

export interface ServiceState {
  readonly installed: boolean;
  /** Starts with the machine or the session. */
  readonly enabled: boolean;
  /** In the process manager's terms: `active`, `activating`, `failed`, `inactive`, `running`. */
  readonly state: string;
  /** A process runs or is about to start. */
  readonly running: boolean;
  readonly pid: number | null;
  /** The readiness that the worker reported to the process manager. Null if it stores none. */
  readonly ready: boolean | null;
  /** More from the process manager: result, number of restarts, the worker's status text. */
  readonly detail: string | null;
}

export interface LogOptions {
  readonly follow: boolean;
  readonly lines: number;
  readonly since: string | undefined;
}

export interface Service {
  readonly kind: 'systemd' | 'launchd';
  readonly scope: Scope;
  /** `svc@alice.service`, `io.svc.bot-1a2b3c`. */
  readonly name: string;
  /** Path from which the process manager reads it. */
  readonly file: string;
  /** The files as they should be. Throws faults of the configuration or project. */
  render(): readonly ServiceFile[];
  /** By svc: its files can be written anew, and removed. */
  isInstalled(): boolean;
  /** It can be started: installed, or an instance of a template that other tools have laid. */
  isThere(): boolean;
  /** Writes the files and registers them. */
  install(files: readonly ServiceFile[]): Promise<void>;
  uninstall(): Promise<void>;
  start(): Promise<void>;
  stop(): Promise<void>;
  state(): Promise<ServiceState>;
  /** Why this user may neither stop nor start it, in the words of the process manager; undefined if it may. Changes nothing. */
  denied(): Promise<string | undefined>;
  /** Resolves with the exit code of the program that prints the logs. */
  logs(options: LogOptions): Promise<number>;
  /** Warnings for the operator about this service. */
  warnings(): readonly string[];
}
