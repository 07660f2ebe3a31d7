// The end of the process from any of its threads, with nothing closed and nobody asked.
import { isMainThread, parentPort } from 'node:worker_threads';

/** What the main thread is told where a thread cannot end the process by itself. */
export interface AbortOrder {
  readonly kind: 'abort';
}

/** The first process of a container outlives the signal that it sends to itself (pid_namespaces(7)). */
export function endAtOnce(): never {
  process.kill(process.pid, 'SIGKILL');
  if (isMainThread) process.abort();
  parentPort?.postMessage({ kind: 'abort' } satisfies AbortOrder);
  for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)), 0, 0);
}
