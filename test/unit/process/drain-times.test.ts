import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as fc from 'fast-check';
import { type DrainPart, drainTimes } from '../../../worker/core/drain-times.ts';

const LIMIT_MS = 7_500; // of the eight seconds, what the worker keeps for its last words left out
const ORDER: readonly DrainPart[] = [
  'start',
  'event',
  'watch',
  'http',
  'handlers',
  'pendingSends',
  'sends',
  'accounts',
  'database',
  'connections',
];

describe('drainTimes', () => {
  it('gives handlers more than six of eight seconds where nothing else takes any', () => {
    const left = drainTimes(LIMIT_MS, () => 0);

    assert.ok(left('handlers') > 6_000, String(left('handlers')));
  });

  it('gives handlers what those before them took less, and what is after them the rest', () => {
    let now = 1_000;
    const left = drainTimes(LIMIT_MS, () => now);
    const before = left('handlers');

    now += 1_500;

    assert.equal(before - left('handlers'), 1_500);
    assert.ok(left('database') > left('handlers'));
  });

  it('never waits longer for clients, or for sends that keep, because there is time', () => {
    const left = drainTimes(LIMIT_MS, () => 0);

    assert.ok(left('http') <= LIMIT_MS / 4);
    assert.ok(left('pendingSends') <= LIMIT_MS / 10);
  });

  it('ends all of it by the limit, however much of its time each part takes, and leaves each of them some (DRAIN-TIMES-1)', () => {
    fc.assert(
      fc.property(
        fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: ORDER.length, maxLength: ORDER.length }),
        (uses) => {
          let now = 0;
          const left = drainTimes(LIMIT_MS, () => now);
          for (const [index, part] of ORDER.entries()) {
            const ms = left(part);
            assert.ok(ms > 0, part);
            now += ms * (uses[index] ?? 1);
          }
          assert.ok(now <= LIMIT_MS + 1e-6, String(now));
        },
      ),
    );
  });
});
