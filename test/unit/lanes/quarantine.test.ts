// Items that were in hand when the process died start one at a time, and only as long as one of them may be guilty. What was in hand twice runs alone.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Core } from '../../../worker/core/core.ts';
import { type LeftInHand, Quarantine, quarantineMs } from '../../../worker/lanes/quarantine.ts';
import { ManualClock } from '../../../worker/testing/manual-clock.ts';

const USUAL = { concurrency: 64, endpointConcurrency: 32 };
const ALONE = { concurrency: 1, endpointConcurrency: 1 };
const BESIDE_ONE = { concurrency: 2, endpointConcurrency: 2 };

const left = (id: string, deaths = 1): LeftInHand => ({ id, deaths, isWaiting: false });
const aside = (id: string, deaths: number): LeftInHand => ({ id, deaths, isWaiting: true });

/** Over what processes before this one left in hand. */
async function quarantineOf(
  ...rows: readonly LeftInHand[]
): Promise<{ quarantine: Quarantine; clock: ManualClock; wakes: () => number }> {
  const clock = new ManualClock(1_000);
  let wakes = 0;
  const core = { clock, log: { warn() {} } } as unknown as Core;
  const quarantine = new Quarantine(core, {
    read: async () => rows,
    what: 'items',
    changed: () => {
      wakes += 1;
    },
  });
  await quarantine.load();
  return { quarantine, clock, wakes: () => wakes };
}

function hanging(quarantine: Quarantine, id: string): { end(): void; readonly run: Promise<void> } {
  let end = (): void => {};
  const run = quarantine.watch(id, () => new Promise<void>((resolve) => (end = resolve)));
  return { end: () => end(), run };
}

describe('the quarantine', () => {
  it('changes nothing where nothing was in hand', async () => {
    const { quarantine } = await quarantineOf();

    assert.deepEqual(quarantine.limits(USUAL), USUAL);
    assert.equal(await quarantine.watch('a', async () => 'ran'), 'ran');
  });

  it('lets what was in hand at one death start one at a time, until each has ended, however', async () => {
    const { quarantine } = await quarantineOf(left('a'), left('b'));

    assert.deepEqual(quarantine.limits(USUAL), ALONE);
    await quarantine.watch('a', async () => {});
    assert.deepEqual(quarantine.limits(USUAL), ALONE);
    await assert.rejects(
      quarantine.watch('b', () => Promise.reject(new Error('failed'))),
      /failed/,
    );

    assert.deepEqual(quarantine.limits(USUAL), USUAL);
  });

  it('lets the next one start beside one that is slow, not deadly', async () => {
    const { quarantine, clock, wakes } = await quarantineOf(left('slow'), left('b'));
    const slow = hanging(quarantine, 'slow');

    clock.moveTo(clock.now() + 99);
    assert.deepEqual(quarantine.limits(USUAL), ALONE);
    clock.moveTo(clock.now() + 1);

    assert.deepEqual(quarantine.limits(USUAL), BESIDE_ONE);
    assert.equal(wakes(), 1, 'it says that more may start');
    slow.end();
    await slow.run;
    assert.deepEqual(quarantine.limits(USUAL), ALONE);
  });

  it('gives what was in hand more often more time to show what it does', async () => {
    const { quarantine, clock } = await quarantineOf(left('slow', 2), left('b'));
    const slow = hanging(quarantine, 'slow');

    clock.moveTo(clock.now() + 499);
    assert.deepEqual(quarantine.limits(USUAL), ALONE);
    clock.moveTo(clock.now() + 1);

    assert.deepEqual(quarantine.limits(USUAL), BESIDE_ONE);
    slow.end();
    await slow.run;
  });

  it('goes on after a while where some were not begun at all', async () => {
    const { quarantine, clock } = await quarantineOf(left('held back by a pause'));

    clock.moveTo(clock.now() + 60_000);

    assert.deepEqual(quarantine.limits(USUAL), USUAL);
  });

  it('counts a death once, for what was in hand at it', async () => {
    const { quarantine } = await quarantineOf(left('a', 2), aside('b', 2));

    assert.deepEqual([quarantine.deathsOf('a'), quarantine.deathsOf('b')], [2, undefined]);
    quarantine.counted('a');

    assert.equal(quarantine.deathsOf('a'), undefined);
  });

  it('holds nobody up for what is set aside, and lets nothing start beside it when it runs', async () => {
    const { quarantine, clock } = await quarantineOf(aside('old', 2), left('new', 2));
    await quarantine.watch('new', async () => quarantine.setAside('new'));
    assert.deepEqual(quarantine.limits(USUAL), USUAL);

    for (const id of ['old', 'new']) {
      const one = hanging(quarantine, id);
      assert.deepEqual(quarantine.limits(USUAL), ALONE);
      clock.moveTo(clock.now() + 500);
      assert.deepEqual(quarantine.limits(USUAL), USUAL);
      one.end();
      await one.run;
    }
  });

  it('sets aside at the second death, and for longer at those after it', () => {
    assert.deepEqual(
      [1, 2, 3, 4].map((deaths) => quarantineMs(deaths, 120_000)),
      [undefined, 120_000, 300_000, 300_000],
    );
    assert.deepEqual(
      [quarantineMs(9, 0), quarantineMs(1, 0, true), quarantineMs(1, 120_000, true)],
      [undefined, undefined, 120_000],
    );
  });
});
