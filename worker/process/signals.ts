// Signal and error handlers of a worker. Handlers are installed once and never removed, because the worker is the whole process.
//
// SIGTERM and SIGINT start the drain. A repeated SIGTERM changes nothing, because npm and systemd may both send it. A second SIGINT on a
// terminal ends the process at once. SIGHUP starts the drain, unless supervised. SIGUSR1 reopens the log, which also keeps Node from
// opening its inspector.

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
