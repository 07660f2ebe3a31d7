// What the soak kit calls flat, on made-up samples: a leak is told, noise is not.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { growthOf, judgeGrowth, type Sample } from './kit/samples.ts';

const BOUNDS = { residentMiB: 16, mibPerMinute: 5, descriptors: 4 };
const samples = (of: (at: number) => Partial<Sample>): readonly Sample[] =>
  Array.from({ length: 60 }, (_, at) => ({ at, pid: 1, residentMiB: 100, descriptors: 30, ...of(at) }));

describe('growth', () => {
  it('is none where memory goes up and down', () => {
    const growth = growthOf(samples((at) => ({ residentMiB: 100 + 20 * Math.sin(at) })));

    assert.deepEqual(judgeGrowth('worker', growth, BOUNDS), []);
    assert.ok(Math.abs(growth.mibPerMinute) < 5);
  });

  it('is told where memory only goes up', () => {
    const growth = growthOf(samples((at) => ({ residentMiB: 100 + at })));

    assert.equal(growth.mibPerMinute, 60);
    assert.match(judgeGrowth('worker', growth, BOUNDS)[0] ?? '', /resident MiB of the worker went from 110 to 150/);
  });

  it('is told where memory goes up slowly for minutes', () => {
    const slow = (at: number) => ({ at: at * 5, residentMiB: 100 + at / 4 });

    assert.match(
      judgeGrowth('worker', growthOf(samples(slow)), { ...BOUNDS, mibPerMinute: 2 })[0] ?? '',
      /3 MiB a minute/,
    );
    assert.deepEqual(judgeGrowth('worker', growthOf(samples(slow)), BOUNDS), []);
  });

  it('is told where descriptors are kept', () => {
    const growth = growthOf(samples((at) => ({ descriptors: 30 + Math.floor(at / 5) })));

    assert.match(judgeGrowth('worker', growth, BOUNDS)[0] ?? '', /descriptors of the worker went from 32 to 40/);
  });
});
