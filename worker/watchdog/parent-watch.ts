// Runs in another thread of the worker. Kills the process once its parent is gone, even if the event loop is blocked.
// Used on systems whose kernel does not do that. A free event loop notices it through the closed IPC channel.

/** The order to the thread. */
export interface ParentOrder {
  readonly kind: 'watch_parent';
  readonly pid: number;
}

const LOOK_MS = 100;

export function watchParent({ pid }: ParentOrder): void {
  setInterval(() => {
    if (process.ppid !== pid) process.kill(process.pid, 'SIGKILL');
  }, LOOK_MS);
}
