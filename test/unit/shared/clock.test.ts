// The clock of the system: its timers end when they were said to, also those that are longer than Node's.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { systemClock } from '../../../shared/time/clock.ts';

const DAY_MS = 86_400_000;
/** 24.8 days: what `setTimeout` takes; it ends a longer one after a millisecond. */
const LONGEST_MS = 2_147_483_647;

describe('a timer of the system clock', () => {
  for (const [name, ms] of [
    ['24.8 days', LONGEST_MS],
    ['a millisecond more', LONGEST_MS + 1],
    ['40 days', 40 * DAY_MS],
    ['a year', 365 * DAY_MS],
  ] as const)
    it(`of ${name} ends after that, once`, (t) => {
      t.mock.timers.enable({ apis: ['setTimeout'] });
      let ends = 0;
      systemClock.after(ms, () => void (ends += 1));

      pass(ms - 1);
      const before = ends;
      t.mock.timers.tick(1);
      const at = ends;
      pass(2 * LONGEST_MS);

      assert.deepEqual([before, at, ends], [0, 1, 1]);

      /** In steps that each end a part in time: what a timer sets counts from the end of the step. */
      function pass(restMs: number): void {
        for (let left = restMs; left > 0; left -= LONGEST_MS) t.mock.timers.tick(Math.min(left, LONGEST_MS));
      }
    });

  it('that is cancelled in its second part never ends', (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    let ends = 0;
    const timer = systemClock.after(40 * DAY_MS, () => void (ends += 1));

    t.mock.timers.tick(LONGEST_MS);
    timer.cancel();
    timer.cancel();
    t.mock.timers.tick(LONGEST_MS);

    assert.equal(ends, 0);
  });

  it('of no time, or of a time that has passed, ends at the next turn', async () => {
    for (const ms of [0, -1, -DAY_MS])
      await new Promise<void>((resolve) => void systemClock.after(ms, resolve, { background: false }));
  });
});
