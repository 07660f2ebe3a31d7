// The memory of a process that does little and stays for as long as its host: V8 is told not to spend any on speed, and not to wait with a
// collection until there is much to collect.
import { getHeapStatistics, setFlagsFromString } from 'node:v8';

/**
 * For Node 20 alone, where they save 0.6 MiB; newer ones take 2 MiB more with them. Nothing here runs often enough to be worth compiling, nor
 * notes for that; the young generation stays at 1 MB; what is left of a page moves to another.
 */
const FLAGS = process.versions.node.startsWith('20.')
  ? [
      '--no-opt',
      '--no-sparkplug',
      '--semi-space-growth-factor=1',
      '--compact-on-every-full-gc',
      '--interrupt-budget-for-feedback-allocation=1000000000',
      '--interrupt-budget-factor-for-feedback-allocation=1000000',
    ]
  : [];
const LOOK_MS = 1_000;
const GARBAGE_BYTES = 65_536;

/**
 * Told while running: a Node that no longer knows one of these flags would refuse it on its command line and not start; told here, it
 * says so on stderr and goes on without. `gc` is there by `--expose-gc` (cli/worker-entry.ts). It is called as it is: with options, Node 20
 * looks at young objects alone, and leaves the wrappers of ended processes and closed sockets, 40 KB a restart. A burst of restarts leaves
 * it 2 MiB larger for some seconds: V8 gives half of its young generation back once little was allocated in the 5 s before a collection.
 */
export function stayThin(): void {
  for (const flag of FLAGS) setFlagsFromString(flag);
  const { gc } = globalThis;
  if (gc === undefined) return;
  let keptBytes = getHeapStatistics().used_heap_size;
  setInterval(() => {
    if (getHeapStatistics().used_heap_size - keptBytes < GARBAGE_BYTES) return;
    gc();
    keptBytes = getHeapStatistics().used_heap_size;
  }, LOOK_MS).unref();
}
