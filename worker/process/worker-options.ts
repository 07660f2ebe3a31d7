// What an entry file says of the worker that it runs: whose it is, and the ways to make the app and to end the process.

import type { Mode } from '../../shared/config/mode.ts';
import type { ExitCode } from '../../shared/process/exit-codes.ts';
import type { App, AppOptions } from '../host/app-options.ts';
import type { LoopGuardOptions } from '../watchdog/loop-guard.ts';

export interface WorkerOptions {
  readonly project: string;
  readonly mode: Mode;
  readonly watch: boolean;
  /** Started by our own supervisor, over IPC. */
  readonly supervised: boolean;
  readonly parent?: number;
  /** A spare: is loaded by now, and waits for its turn before it touches anything. */
  readonly standby?: boolean;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Whether somebody looks at stdout, and whether stdin is a keyboard. */
  readonly terminal: boolean;
  /** Lines of JSON there, too. Default: lines for people. */
  readonly plainLog?: boolean;
  readonly createApp: (options: AppOptions) => App | Promise<App>;
  /** Has another thread look after the event loop of this one, once up. */
  readonly guard?: (runtimeId: string, options: LoopGuardOptions) => void;
  /** Ends the process; called once, last. */
  readonly exit: (code: ExitCode) => void;
}
