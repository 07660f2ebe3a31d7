// Power cuts under a Workroom: its state lies on a file system of its own, which is shut down under load without writing its log. What was
// acknowledged over HTTP is in the journal on that disk, the chain continues, and the catalog is its fold. Of a journal in files, the files alone are
// asked: an acknowledgement waits for their sync. Root, a loop device and the tools of the file system are needed.
import { describe, it } from 'node:test';
import { loopDiskMissing } from '../../support/disk/loop-disk.ts';
import { seeded } from '../crash/kit/random.ts';
import { WorkroomRun } from './kit/workroom-run.ts';

// biome-ignore lint/style/noProcessEnv: switches of the test run
const { SVC_WORKROOM_CUTS = '5', SVC_CRASH_SEED: seed = String(Date.now() % 1_000_000) } = process.env;
/** Both stores share the cuts of a file system. */
const CUTS = {
  database: Math.ceil(Number(SVC_WORKROOM_CUTS) / 2),
  file: Math.floor(Number(SVC_WORKROOM_CUTS) / 2),
} as const;

describe('a power cut under a Workroom', () => {
  for (const fileSystem of ['ext4', 'xfs'] as const)
    for (const store of ['database', 'file'] as const)
      it(`loses no command that was acknowledged, over ${CUTS[store]} of them, with the journal in the ${store} on ${fileSystem}`, {
        skip: loopDiskMissing(fileSystem),
        timeout: 300_000 + CUTS[store] * 30_000,
      }, async (t) => {
        console.log(`SVC_CRASH_SEED=${seed}`);
        const run = await WorkroomRun.create(t, { random: seeded(Number(seed)), fileSystem, store });
        for (let cut = 0; cut < CUTS[store]; cut += 1) await run.cut();
        console.log(run.summary());
        if (run.faults.length > 0) throw new Error(run.faults.slice(0, 10).join('\n'));
      });
});
