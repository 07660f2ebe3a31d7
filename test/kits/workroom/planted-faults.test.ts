// The rig of power cuts sees what it is for: a host with a planted fault is found within some cuts.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { loopDiskMissing } from '../../support/disk/loop-disk.ts';
import { seeded } from '../crash/kit/random.ts';
import { WorkroomRun } from './kit/workroom-run.ts';

const MOST_CUTS = 20;

const PLANTED = {
  'workroom-answer-early': /was acknowledged and is lost/,
  'commit-without-sync': /was acknowledged and is lost|before$/,
  'workroom-catalog-apart': /verify: catalog_differs/,
  'workroom-chain-restarts': /does not continue the chain/,
} as const;

describe('a planted fault of the Workroom', { skip: loopDiskMissing() }, () => {
  for (const [plant, fault] of Object.entries(PLANTED))
    it(`is found: ${plant}`, { timeout: 900_000 }, async (t) => {
      const run = await WorkroomRun.create(t, { random: seeded(1), fileSystem: 'ext4', plant });
      while (run.cuts < MOST_CUTS && !run.faults.some((found) => fault.test(found))) await run.cut();
      console.log(`${plant}: ${run.summary()}: ${run.faults[0]}`);
      assert.ok(
        run.faults.some((found) => fault.test(found)),
        `not found in ${run.cuts} cuts; ${run.faults.slice(0, 3).join('; ')}`,
      );
    });
});
