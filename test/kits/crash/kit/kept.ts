// How a run ends: the seed and the first fault stand in the message itself, which is all that the end of a long log shows.
import assert from 'node:assert/strict';

const MOST_SHOWN = 30;

export function assertKept(faults: readonly string[], { seed }: { readonly seed: number }): void {
  const which = `${faults.length} promises were broken, seed ${seed}: ${faults[0]?.split('\n')[0]}`;
  assert.deepEqual(faults.slice(0, MOST_SHOWN), [], which);
}
