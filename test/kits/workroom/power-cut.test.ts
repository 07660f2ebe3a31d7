// Power cuts under a Workroom: its state lies on a file system of its own, which is shut down under load without writing its log. What was
// acknowledged over HTTP is in the journal on that disk, the chain continues, and the catalog is its fold. Root, a loop device and the tools of the
// file system are needed.
import { describe, it } from 'node:test';
import { loopDiskMissing } from '../../support/disk/loop-disk.ts';
import { seeded } from '../crash/kit/random.ts';
import { WorkroomRun } from './kit/workroom-run.ts';

// biome-ignore lint/style/noProcessEnv: switches of the test run
const { SVC_WORKROOM_CUTS = '5', SVC_CRASH_SEED: seed = String(Date.now() % 1_000_000) } = process.env;
const CUTS = Number(SVC_WORKROOM_CUTS);

describe('a power cut under a Workroom', () => {
  for (const fileSystem of ['ext4', 'xfs'] as const)
    it(`loses no command that was acknowledged, over ${CUTS} of them on ${fileSystem}`, {
      skip: loopDiskMissing(fileSystem),
      timeout: 300_000 + CUTS * 30_000,
    }, async (t) => {
      console.log(`SVC_CRASH_SEED=${seed}`);
      const run = await WorkroomRun.create(t, { random: seeded(Number(seed)), fileSystem });
      for (let cut = 0; cut < CUTS; cut += 1) await run.cut();
      console.log(run.summary());
      if (run.faults.length > 0) throw new Error(run.faults.slice(0, 10).join('\n'));
    });
});
