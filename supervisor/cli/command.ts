// What a command of the CLI is: data for the table, help and completions, and a `run` that its own file loads lazily.
import type { ExitCode } from '../../shared/process/exit-codes.ts';
import type { SvcError } from '../../shared/svc-error.ts';

export interface CommandOption {
  /** As cac reads it: `--json`, `-n, --lines <n>`, `--mode <mode>`, `--no-watch`. */
  readonly flags: string;
  readonly description: string;
  readonly default?: string | number | boolean;
}

export interface Command {
  /** First word: `runtime`. */
  readonly noun: string;
  /** Second word: `start`; undefined where the noun is the whole command (`init`). */
  readonly verb?: string;
  /** Positional arguments as cac reads them: `<id>`, `[path]`, `[...ids]`. */
  readonly args?: string;
  readonly summary: string;
  readonly options?: readonly CommandOption[];
  readonly examples: readonly string[];
  /** Positional arguments in order, then the parsed options under their camel-case names. */
  run(
    context: CommandContext,
    args: readonly (string | readonly string[] | undefined)[],
    options: Readonly<Record<string, unknown>>,
  ): Promise<ExitCode>;
}

/** What every command gets; nothing of it is read before it is asked for. */
export interface CommandContext {
  readonly json: boolean;
  /** The process environment, read once by the entry file. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** True when a person sits at a terminal and may be asked. */
  readonly interactive: boolean;
  /** Aborts at the first Ctrl-C. */
  readonly signal: AbortSignal;
  /** `--project DIR`, else the nearest parent folder with `svc.config.yml`, or of which `isOneToo` says yes. Throws SvcError `no_project`. */
  readonly project: (isOneToo?: (folder: string) => boolean) => string;
  readonly print: Printer;
  /** The running host over HTTP, with address and token of the project's configuration. Throws `not_running`, `config_invalid`. */
  readonly host: () => Promise<HostClient>;
  /** Ends the command at once with what is wrong, from wherever: what it was doing does not come back. */
  readonly end: (error: unknown) => never;
}

export interface Printer {
  /** The result for people, on stdout; silent with --json. */
  text(line: string): void;
  /** The one JSON document on stdout; only with --json. */
  json(document: unknown): void;
  /** One line of NDJSON on stdout, for commands that follow. */
  line(document: unknown): void;
  table(head: readonly string[], rows: readonly (readonly string[])[]): void;
  /** Diagnostics, on stderr. */
  note(line: string): void;
  /** Colours that are plain text where colour is off. */
  readonly color: {
    good(text: string): string;
    bad(text: string): string;
    warn(text: string): string;
    dim(text: string): string;
    bold(text: string): string;
  };
}

export interface HostClient {
  /** Base URL with `http.base`, without a final slash. */
  readonly url: string;
  /** JSON of a 2xx answer; throws SvcError with the problem's code, title and hint otherwise. */
  request(
    method: string,
    path: string,
    options?: {
      readonly body?: unknown;
      readonly headers?: Readonly<Record<string, string>>;
      readonly idempotencyKey?: string;
      /** Gives the request up. */
      readonly signal?: AbortSignal;
    },
  ): Promise<{ readonly status: number; readonly headers: Headers; readonly body: unknown }>;
  /** Authorization header, for streams. */
  authorization(): string;
  /** What `ask` asks the host by itself, with what every request has: says what is waited for, and ends by the signal. */
  awaited<T>(ask: (signal: AbortSignal) => Promise<T>): Promise<T>;
  /** An answer that is none of 2xx as an error, with what is known here. */
  refusal(status: number, body: unknown, what: string): SvcError;
}
