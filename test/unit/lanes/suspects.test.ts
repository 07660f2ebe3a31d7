// Items that were in hand at two deaths of the process run one at a time, and only as long as one of them may be guilty.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Core } from '../../../worker/core.ts';
import { Suspects } from '../../../worker/lanes/suspects.ts';
import { ManualClock } from '../../../worker/sdk/testing/manual-clock.ts';

const USUAL = { concurrency: 64, endpointConcurrency: 32 };
const ALONE = { concurrency: 1, endpointConcurrency: 1 };

/** Suspects over what a process before left in hand. */
async function suspectsOf(
  ...ids: readonly string[]
): Promise<{ suspects: Suspects; clock: ManualClock; wakes: () => number }> {
  const clock = new ManualClock(1_000);
  let wakes = 0;
  const core = { clock, log: { warn() {} } } as unknown as Core;
  const suspects = new Suspects(core, {
    read: async () => ids.map((id) => ({ id })),
    what: 'items',
    changed: () => {
      wakes += 1;
    },
  });
  await suspects.load();
  return { suspects, clock, wakes: () => wakes };
}

describe('suspects', () => {
  it('change nothing where there are none', async () => {
    const { suspects } = await suspectsOf();

    assert.deepEqual(suspects.limits(USUAL), USUAL);
    assert.equal(await suspects.watch('a', async () => 'ran'), 'ran');
  });

  it('run one at a time, until the last of them has ended', async () => {
    const { suspects } = await suspectsOf('a', 'b');

    assert.deepEqual(suspects.limits(USUAL), ALONE);
    await suspects.watch('a', async () => {});
    assert.deepEqual(suspects.limits(USUAL), ALONE);
    await assert.rejects(
      suspects.watch('b', () => Promise.reject(new Error('failed'))),
      /failed/,
    );

    assert.deepEqual(suspects.limits(USUAL), USUAL);
  });

  it('let others start beside one that is only slow', async () => {
    const { suspects, clock, wakes } = await suspectsOf('slow', 'b');
    let end: () => void = () => {};
    const slow = suspects.watch('slow', () => new Promise<void>((resolve) => (end = resolve)));

    clock.moveTo(1_499);
    assert.deepEqual(suspects.limits(USUAL), ALONE);
    clock.moveTo(1_500);

    assert.deepEqual(suspects.limits(USUAL), { concurrency: 2, endpointConcurrency: 2 });
    assert.equal(wakes(), 1);
    end();
    await slow;
    assert.deepEqual(suspects.limits(USUAL), ALONE);
  });

  it('are none any more after a minute', async () => {
    const { suspects, clock } = await suspectsOf('held back by a pause');

    clock.moveTo(61_000);

    assert.deepEqual(suspects.limits(USUAL), USUAL);
  });
});
