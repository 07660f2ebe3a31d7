// Signal and error handlers of a worker. Handlers are installed once and never removed, because the worker is the whole process.
//
// SIGTERM and SIGINT start the drain. A repeated SIGTERM changes nothing, because npm and systemd may both send it. A second Ctrl-C on a
// terminal ends the process at once. SIGHUP starts the drain, unless supervised or ignored when the process began. SIGUSR1 reopens the log,
// which also keeps Node from opening its inspector.
import { listenToInterrupts } from '../../shared/process/interrupts.ts';
import type { Clock } from '../../shared/time/clock.ts';

export interface SignalOptions {
  readonly terminal: boolean;
  /** SIGHUP was ignored when the process began, or the process is supervised. */
  readonly ignoresHangup: boolean;
  readonly stop: (reason: string) => void;
  readonly force: (reason: string) => void;
  readonly reopen: () => void;
  readonly die: (kind: string, error: unknown) => void;
  /** Called for what the person at the terminal, or the reader of the log, should know. */
  readonly tell: (text: string) => void;
  readonly clock?: Clock;
}

export function listenToSignals(options: SignalOptions): void {
  const { terminal, ignoresHangup, stop, force, reopen, die, tell } = options;
  process.on('SIGTERM', () => stop('SIGTERM'));
  listenToInterrupts({
    first() {
      if (terminal) tell('stopping; Ctrl-C again ends it without a drain');
      stop('SIGINT');
    },
    again() {
      if (terminal) force('second SIGINT');
    },
    ...(options.clock === undefined ? {} : { clock: options.clock }),
  });
  process.on('SIGHUP', () => {
    if (ignoresHangup) tell('SIGHUP changes nothing: this process belongs to no terminal');
    else stop('SIGHUP');
  });
  process.on('SIGUSR1', reopen);
  for (const kind of ['uncaughtException', 'unhandledRejection'] as const) {
    process.on(kind, (error: unknown) => die(kind, error));
  }
}
