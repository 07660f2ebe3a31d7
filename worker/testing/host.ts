// A real host for a harness: its own process, on a free port of 127.0.0.1, in a project folder of its own that goes with it.
import { HOST, refuseBadOptions } from './option-shapes.ts';
import { RealHost } from './real-host.ts';

/** The project that the host runs. */
export interface HostOptions {
  /** Keys of `svc.config.yml`. Address, port and token are the host's own. */
  readonly config?: Readonly<Record<string, unknown>>;
  /** By slot: a file (relative to the working folder, or a URL), a package, the name of one that is built in, or the slot's keys. */
  readonly plugins?: Readonly<Record<string, string | URL | Readonly<Record<string, unknown>>>>;
  /** Texts of further files of the project, by path below it. */
  readonly files?: Readonly<Record<string, string>>;
  /** Variables that the configuration refers to. Of the harness's own environment the host gets none but PATH and the like. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Default `test`: plugins may be TypeScript, a missing secret of a plugin is a warning. */
  readonly mode?: 'development' | 'production' | 'test';
  /** What is waited for. Default `ready`. */
  readonly until?: 'ready' | 'up';
  /** How long a start may take. Default 20 000. */
  readonly timeoutMs?: number;
  /** The context of a `node:test` test: closes the host when the test ends. */
  readonly owner?: { after(close: () => Promise<void>): void };
}

/** A request with what `fetch` takes, and how svc is asked. */
export interface HostRequest extends RequestInit {
  /** Sent as the body, with its content type. */
  readonly json?: unknown;
  /** Default: the host's own. `null`: none. */
  readonly token?: string | null;
}

/** A host that answers over HTTP. */
export interface TestHost {
  /** `http://127.0.0.1:<port>`, with `http.base`; the same after a restart. */
  readonly url: string;
  /** The full-scope token. */
  readonly token: string;
  /** The project's folder. */
  readonly project: string;
  /** Of the process that runs, or ran last. */
  readonly pid: number;
  /** Lines of its log, oldest first, of all its processes. */
  logs(): readonly Readonly<Record<string, unknown>>[];
  /** `path` begins with a slash. */
  request(path: string, request?: HostRequest): Promise<Response>;
  /** Stops it in order when it runs, and starts it on the same project and port. */
  restart(): Promise<void>;
  /** SIGKILL. `restart` starts it again. */
  kill(): Promise<void>;
  /** Stops it and removes everything. Once it has begun, further calls wait for the same end. */
  close(): Promise<void>;
  /** `await using host = await startHost(…)`, where the syntax is there. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** Rejects, with everything removed, when the host does not come up: says why, with the last lines of its log. */
export async function startHost(options: HostOptions = {}): Promise<TestHost> {
  refuseBadOptions('startHost', options, HOST);
  return RealHost.start(options);
}
