// The rig of power cuts sees what it is for: a host with a planted fault is found within some cuts.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { loopDiskMissing } from '../../support/disk/loop-disk.ts';
import { seeded } from '../crash/kit/random.ts';
import { WorkroomRun } from './kit/workroom-run.ts';

const MOST_CUTS = 20;

const IN_BOTH = {
  'workroom-answer-early': /was acknowledged and is lost/,
  'workroom-catalog-apart': /verify: catalog_differs/,
  'workroom-chain-restarts': /does not continue the chain/,
} as const;
const PLANTED = {
  // Files that hold more than the database are right: there a commit without its sync loses nothing.
  database: { ...IN_BOTH, 'commit-without-sync': /was acknowledged and is lost|before$/ },
  file: { ...IN_BOTH, 'workroom-file-without-sync': /was acknowledged and is lost/ },
} as const;

describe('a planted fault of the Workroom', { skip: loopDiskMissing() }, () => {
  for (const store of ['database', 'file'] as const)
    for (const [plant, fault] of Object.entries(PLANTED[store]))
      it(`is found in the ${store}: ${plant}`, { timeout: 900_000 }, async (t) => {
        const run = await WorkroomRun.create(t, { random: seeded(1), fileSystem: 'ext4', store, plant });
        while (run.cuts < MOST_CUTS && !run.faults.some((found) => fault.test(found))) await run.cut();
        console.log(`${plant}: ${run.summary()}: ${run.faults[0]}`);
        assert.ok(
          run.faults.some((found) => fault.test(found)),
          `not found in ${run.cuts} cuts; ${run.faults.slice(0, 3).join('; ')}`,
        );
      });
});
