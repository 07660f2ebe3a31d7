// The spare worker's machine, and what holds over any sequence of its events.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { NO_SPARE, type SpareEvent, type SpareState, stepSpare } from '../../supervisor/spare-machine.ts';

const LOADING: SpareState = { kind: 'loading', failures: 0 };
const READY: SpareState = { kind: 'ready', failures: 0 };
const PAUSED: SpareState = { kind: 'none', notBefore: 1_000, failures: 1 };

const TABLE: readonly (readonly [string, SpareState, SpareEvent, string, 'start' | 'end' | undefined])[] = [
  ['none: wanted', NO_SPARE, { kind: 'look', want: 'start' }, 'loading', 'start'],
  ['none: another may stay', NO_SPARE, { kind: 'look', want: 'keep' }, 'none', undefined],
  ['none: wanted, but in a pause', PAUSED, { kind: 'look', want: 'start' }, 'none', undefined],
  ['loading: it waits', LOADING, { kind: 'ready' }, 'ready', undefined],
  ['loading: ends by itself', LOADING, { kind: 'ended' }, 'none', undefined],
  ['ready: wanted', READY, { kind: 'look', want: 'start' }, 'ready', undefined],
  ['ready: may stay', READY, { kind: 'look', want: 'keep' }, 'ready', undefined],
  ['ready: not wanted any more', READY, { kind: 'look', want: 'none' }, 'none', 'end'],
  ['ready: taken', READY, { kind: 'taken' }, 'none', undefined],
  ['ready: of another program', READY, { kind: 'stale' }, 'none', 'end'],
];

describe('the machine of the spare', () => {
  for (const [title, before, event, kind, effect] of TABLE) {
    it(title, () => {
      const after = stepSpare(before, event, 500);

      assert.deepEqual([after.spare.kind, after.effect], [kind, effect]);
    });
  }

  it('pauses 5, 10, 20 s up to five minutes between spares that end by themselves (R1)', () => {
    const pauses: number[] = [];
    let spare: SpareState = NO_SPARE;
    for (let n = 0; n < 9; n += 1) {
      spare = stepSpare({ kind: 'loading', failures: spare.failures }, { kind: 'ended' }, 0).spare;
      if (spare.kind === 'none') pauses.push(spare.notBefore / 1_000);
    }

    assert.deepEqual(pauses, [5, 10, 20, 40, 80, 160, 300, 300, 300]);
  });

  it('never starts a second one, and leaves none behind that nobody wants (R2)', () => {
    const event: fc.Arbitrary<SpareEvent> = fc.oneof(
      fc.constantFrom('start', 'keep', 'none').map((want) => ({ kind: 'look', want: want as 'start' }) as const),
      fc.constantFrom('ready', 'ended', 'taken', 'stale').map((kind) => ({ kind: kind as 'ready' })),
    );
    fc.assert(
      fc.property(fc.array(fc.tuple(event, fc.nat(400_000))), (life) => {
        let spare: SpareState = NO_SPARE;
        let isThere = false;
        let now = 0;
        for (const [next, afterMs] of life) {
          now += afterMs;
          const { spare: after, effect } = stepSpare(spare, next, now);
          if (effect === 'start') assert.equal(isThere, false);
          if (effect === 'start') isThere = true;
          if (effect === 'end' || next.kind === 'ended' || next.kind === 'taken') isThere = false;
          spare = after;
          assert.equal(spare.kind !== 'none', isThere);
        }
      }),
    );
  });
});
