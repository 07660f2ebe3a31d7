// In another thread of the worker: ends the process once its parent is gone, although the event loop may be blocked. For systems whose kernel
// does not do it (shared/process/parent-guard.ts); a loop that is free hears of it by itself, over IPC.

/** What the thread is told. */
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
