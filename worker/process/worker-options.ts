// Options of a worker, from its entry file: its owner, how to make the app and how to end the process.

import type { Mode } from '../../shared/config/mode.ts';
import type { ExitCode } from '../../shared/process/exit-codes.ts';
import type { App, AppOptions } from '../host/app-options.ts';
import type { LoopGuardOptions } from '../watchdog/loop-guard.ts';

export interface WorkerOptions {
  readonly project: string;
  readonly mode: Mode;
  readonly watch: boolean;
  /** Started by the project's own supervisor, over IPC. */
  readonly supervised: boolean;
  readonly parent?: number;
  /** A spare: code is loaded, and the worker waits for its turn before it touches anything. */
  readonly standby?: boolean;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** True if stdout is a terminal. */
  readonly terminal: boolean;
  /** JSON lines even on a terminal. Default: human-readable lines. */
  readonly plainLog?: boolean;
  readonly createApp: (options: AppOptions) => App | Promise<App>;
  /** Lets another thread watch this event loop, once the worker is up. */
  readonly guard?: (runtimeId: string, options: LoopGuardOptions) => void;
  /** Ends the process; called once, last. */
  readonly exit: (code: ExitCode) => void;
}
