// What signals and uncaught errors ask of a worker. Said once to the process, never taken back: the worker is the process.
//
// SIGTERM and SIGINT: the drain; a repeated SIGTERM is the same request (npm and systemd both send it). A second SIGINT on a terminal: the end, at once.
// SIGHUP: the drain, where a terminal may go away. SIGUSR1: the log is opened anew, and Node opens no inspector.

export interface SignalOptions {
  readonly terminal: boolean;
  readonly supervised: boolean;
  readonly stop: (reason: string) => void;
  readonly force: (reason: string) => void;
  readonly reopen: () => void;
  readonly die: (kind: string, error: unknown) => void;
}

export function listenToSignals({ terminal, supervised, stop, force, reopen, die }: SignalOptions): void {
  let interrupts = 0;
  process.on('SIGTERM', () => stop('SIGTERM'));
  process.on('SIGINT', () => {
    interrupts += 1;
    if (interrupts > 1 && terminal) force('second SIGINT');
    else stop('SIGINT');
  });
  process.on('SIGHUP', () => {
    if (!supervised) stop('SIGHUP');
  });
  process.on('SIGUSR1', reopen);
  for (const kind of ['uncaughtException', 'unhandledRejection'] as const) {
    process.on(kind, (error: unknown) => die(kind, error));
  }
}
