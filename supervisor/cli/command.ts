// Type of a CLI command: data for the command table, help and completions, and a `run` in a lazily loaded file.
import type { ExitCode } from '../../shared/process/exit-codes.ts';
import type { SvcError } from '../../shared/svc-error.ts';

export interface CommandOption {
  /** In cac's syntax: `--json`, `-n, --lines <n>`, `--mode <mode>`, `--no-watch`. */
  readonly flags: string;
  readonly description: string;
  readonly default?: string | number | boolean;
  /** May be given more than once: then its value is a list. */
  readonly isRepeated?: boolean;
}

export interface Command {
  /** First word: `runtime`. */
  readonly noun: string;
  /** Second word: `start`. Undefined if the noun is the whole command (`init`). */
  readonly verb?: string;
  /** Positional arguments in cac's syntax: `<id>`, `[path]`, `[...ids]`. */
  readonly args?: string;
  readonly summary: string;
  readonly options?: readonly CommandOption[];
  readonly examples: readonly string[];
  /** Writes files into `.svc` or `data` by itself, so it is refused in the project of another user. */
  readonly writesState?: true;
  /** Gets the positional arguments in order, then the parsed options by their camel-case names. */
  run(
    context: CommandContext,
    args: readonly (string | readonly string[] | undefined)[],
    options: Readonly<Record<string, unknown>>,
  ): Promise<ExitCode>;
}

/** Passed to every command. Each value is computed on first access. */
export interface CommandContext {
  readonly json: boolean;
  /** The process environment, read once by the entry file. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** True if a person at a terminal can answer questions. */
  readonly interactive: boolean;
  /** Aborts at the first Ctrl-C. */
  readonly signal: AbortSignal;
  /** `--project DIR`, else the nearest parent folder with `svc.config.yml`, or one that `isOneToo` accepts. Throws SvcError `no_project`. */
  readonly project: (isOneToo?: (folder: string) => boolean) => string;
  readonly print: Printer;
  /** HTTP client for the running host, with the address and token of the project. Throws `not_running`, `config_invalid`. */
  readonly host: () => Promise<HostClient>;
  /** Ends the command at once with this error, from anywhere. The running work is abandoned. */
  readonly end: (error: unknown) => never;
}

export interface Printer {
  /** The result for people, on stdout. Silent with --json. */
  text(line: string): void;
  /** The only JSON document on stdout, only with --json. */
  json(document: unknown): void;
  /** One line of NDJSON on stdout, for commands that follow. */
  line(document: unknown): void;
  table(head: readonly string[], rows: readonly (readonly string[])[]): void;
  /** Diagnostics, on stderr. */
  note(line: string): void;
  /** Colours. Returns plain text if colour is off. */
  readonly color: {
    good(text: string): string;
    bad(text: string): string;
    warn(text: string): string;
    dim(text: string): string;
    bold(text: string): string;
  };
}

export interface HostClient {
  /** Base URL with `http.base`, without a trailing slash. */
  readonly url: string;
  /** Returns the JSON of a 2xx answer. Otherwise throws SvcError with the problem's code, title and hint. */
  request(
    method: string,
    path: string,
    options?: {
      readonly body?: unknown;
      readonly headers?: Readonly<Record<string, string>>;
      readonly idempotencyKey?: string;
      /** Cancels the request. */
      readonly signal?: AbortSignal;
    },
  ): Promise<{ readonly status: number; readonly headers: Headers; readonly body: unknown }>;
  /** Authorization header, for streams. */
  authorization(): string;
  /** Runs `ask` like any request: prints on stderr why the host does not answer, and ends by the signal. */
  awaited<T>(ask: (signal: AbortSignal) => Promise<T>): Promise<T>;
  /** Converts an answer without a 2xx status to an error, with local hints. */
  refusal(status: number, body: unknown, what: string): SvcError;
}
