// A real host for a test harness: its own process, on a free port of 127.0.0.1, in a temporary project folder.
import { HOST, refuseBadOptions } from './option-shapes.ts';
import { RealHost } from './real-host.ts';

/** Options of a test host and its project. */
export interface HostOptions {
  /** Keys of `svc.config.yml`. Address, port and token are the host's own. */
  readonly config?: Readonly<Record<string, unknown>>;
  /**
   * Plugins by slot. The value is a file, a package, the name of a built-in plugin, or the slot's keys. A file is a path relative to the working
   * folder, or a URL.
   */
  readonly plugins?: Readonly<Record<string, string | URL | Readonly<Record<string, unknown>>>>;
  /** Contents of further files of the project, by path relative to it. */
  readonly files?: Readonly<Record<string, string>>;
  /** Environment variables for the configuration. The host inherits only PATH and the like from the harness. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Default `test`: plugins may be TypeScript, and a missing secret of a plugin is only a warning. */
  readonly mode?: 'development' | 'production' | 'test';
  /** The state to wait for. Default `ready`. */
  readonly until?: 'ready' | 'up';
  /** Most milliseconds of a start. Default 60 000: a busy machine may be slow. */
  readonly timeoutMs?: number;
  /** The context of a `node:test` test. Its end closes the host. */
  readonly owner?: { after(close: () => Promise<void>): void };
}

/** The options of `fetch`, and svc's own. */
export interface HostRequest extends RequestInit {
  /** Sent as a JSON body, with its content type. */
  readonly json?: unknown;
  /** Bearer token. Default: the host's own. `null`: none. */
  readonly token?: string | null;
}

/** A running test host. */
export interface TestHost {
  /** `http://127.0.0.1:<port>`, with `http.base`. It stays the same after a restart. */
  readonly url: string;
  /** The token with full scope. */
  readonly token: string;
  /** The project's folder. */
  readonly project: string;
  /** Id of the running process, or of the last one. */
  readonly pid: number;
  /** Log lines of all its processes, oldest first. */
  logs(): readonly Readonly<Record<string, unknown>>[];
  /** Sends a request. `path` begins with a slash. */
  request(path: string, request?: HostRequest): Promise<Response>;
  /** Stops the host gracefully if it is running, and starts it on the same project and port. */
  restart(): Promise<void>;
  /** Sends SIGKILL. `restart` starts the host again. */
  kill(): Promise<void>;
  /** Stops the host and removes its folder. Further calls wait for the first one. */
  close(): Promise<void>;
  /** For `await using host = await startHost(…)`, if the syntax is supported. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** Starts a host. If the host does not come up, rejects with the reason and the last log lines, and removes everything. */
export async function startHost(options: HostOptions = {}): Promise<TestHost> {
  refuseBadOptions('startHost', options, HOST);
  return RealHost.start(options);
}
