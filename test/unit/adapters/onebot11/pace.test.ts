// How many calls an account of OneBot makes in a second.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { placeInLine, putOff } from '../../../../worker/adapters/onebot11/calls/pace.ts';
import type { Account } from '../../../../worker/adapters/onebot11/config.ts';

/** Waits of calls that all come at that time. */
function waits(account: Account, now: number, calls: number): readonly number[] {
  return Array.from({ length: calls }, (_, n) => {
    const place = placeInLine(account, `k${n} at ${now}`, now);
    return Math.round('waitMs' in place ? place.waitMs : -place.afterMs);
  });
}

describe('the pace of an account', () => {
  it('lets three calls out at once after a rest, then one each 100 ms (ONEBOT11-PACE-1)', () => {
    const account = { perSecond: 10 } as Account;

    assert.deepEqual(waits(account, 0, 6), [0, 0, 0, 100, 200, 300]);
    assert.deepEqual(waits(account, 10_000, 4), [0, 0, 0, 100]);
  });

  it('keeps accounts apart, and lets nothing out before the implementation allows it (ONEBOT11-PACE-2)', () => {
    const [one, other] = [{ perSecond: 10 } as Account, { perSecond: 10 } as Account];

    putOff(one, 5_000);

    assert.deepEqual(waits(one, 0, 2), [5_000, 5_100]);
    assert.deepEqual(waits(other, 0, 2), [0, 0]);
  });

  it('puts off what would wait longer than 20 s, once: it keeps its place (ONEBOT11-PACE-3)', () => {
    const account = { perSecond: 0.1 } as Account;
    const all = waits(account, 0, 6);

    assert.deepEqual(all, [0, 0, 0, 10_000, 20_000, -30_000]);
    assert.deepEqual(placeInLine(account, 'k5 at 0', 30_000), { waitMs: 0 });
  });
});
