// The clock by which things are kept: how far it goes, whatever the wall clock does.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as fc from 'fast-check';
import { type KeptTime, stepKept } from '../../../worker/host/kept-clock.ts';

const TRUST = 30;
const START = 1_000;

const begun: KeptTime = { at: START, lookedMs: 0, aheadMs: 0 };

describe('stepKept', () => {
  it('runs with the monotonic clock, and takes a jump over once it has stood for its time', () => {
    let kept = begun;
    const at: number[] = [];
    for (let run = 1; run <= 61; run += 1) {
      kept = stepKept(kept, { elapsedMs: 1, wall: START + run + (run > 10 ? 5_000 : 0), trustMs: TRUST });
      at.push(kept.at - START);
    }

    assert.deepEqual([at[9], at[29], at[58], at[60]], [10, 30, 59, 5_061]);
  });

  it('forgets a jump that is taken back', () => {
    let kept = begun;
    for (let run = 1; run <= 200; run += 1) {
      const isAhead = run > 10 && run < 35;
      kept = stepKept(kept, { elapsedMs: 1, wall: START + run + (isAhead ? 5_000 : 0), trustMs: TRUST });
    }

    assert.equal(kept.at, START + 200);
  });

  it('is never ahead of the wall clock, and nothing is older by it than it is by that plus what has stood (KEPTCLOCK-1, KEPTCLOCK-2)', () => {
    const step = fc.record({ elapsedMs: fc.nat(5), jumpMs: fc.integer({ min: -50, max: 50 }) });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        let [kept, run, wall] = [begun, 0, START];
        // What was stored at a moment, by the wall clock of then.
        const stored: { readonly run: number; readonly wall: number }[] = [{ run, wall }];
        for (const { elapsedMs, jumpMs } of steps) {
          run += elapsedMs;
          wall += elapsedMs + jumpMs;
          kept = stepKept(kept, { elapsedMs, wall, trustMs: TRUST });
          assert.ok(kept.at <= wall);
          stored.push({ run, wall });
          for (const one of stored)
            assert.ok(kept.at - one.wall < TRUST || run - one.run >= TRUST, `${kept.at - one.wall} ${run - one.run}`);
        }
      }),
    );
  });
});
