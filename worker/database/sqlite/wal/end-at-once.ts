// Ends the process from any of its threads at once: nothing is closed, no handler runs.
import { isMainThread, parentPort } from 'node:worker_threads';

/** Asks the main thread to abort, since another thread cannot abort the process. */
export interface AbortOrder {
  readonly kind: 'abort';
}

/** The first process of a container survives its own SIGKILL (pid_namespaces(7)): then the process aborts. */
export function endAtOnce(): never {
  process.kill(process.pid, 'SIGKILL');
  if (isMainThread) process.abort();
  parentPort?.postMessage({ kind: 'abort' } satisfies AbortOrder);
  for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)), 0, 0);
}
