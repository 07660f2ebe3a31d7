// What `svc service` asks of an owner of the machine (systemd, launchd), whichever it is.
//
//   V1  Nothing of the project's data is touched: a service is files of the owner and its word to start them.
//   V2  Installing twice is installing once; what differs is shown before it is replaced.
//   V3  An answer tells what the owner says, never what was hoped for.

export type Scope = 'system' | 'user';

export interface ServiceFile {
  readonly path: string;
  readonly text: string;
}

export interface ServiceState {
  readonly installed: boolean;
  /** Starts by itself with the machine or the session. */
  readonly enabled: boolean;
  /** In the owner's words: `active`, `activating`, `failed`, `inactive`, `running`. */
  readonly state: string;
  /** A process lives, or is just being started. */
  readonly running: boolean;
  readonly pid: number | null;
  /** The worker's own word as the owner keeps it; null where it keeps none. */
  readonly ready: boolean | null;
  /** What more the owner tells: its result, how often it started again, the worker's own word. */
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
  /** Where the owner reads it. */
  readonly file: string;
  /** The files as they should be. Throws what is wrong with configuration or project. */
  render(): readonly ServiceFile[];
  isInstalled(): boolean;
  /** Writes the files and lets the owner know them; gives what was done. */
  install(files: readonly ServiceFile[]): Promise<void>;
  uninstall(): Promise<void>;
  start(): Promise<void>;
  stop(): Promise<void>;
  state(): Promise<ServiceState>;
  /** Ends with the code of the program that shows them. */
  logs(options: LogOptions): Promise<number>;
  /** What an operator should know before relying on it. */
  warnings(): readonly string[];
}
