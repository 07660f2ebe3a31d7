// Power cuts over the switch of a restore, and over the exchange of code of a release and its rollback: the project lies on a file system of its own,
// which is shut down without writing its log. Root, a loop device and the tools of the file system are needed.
import { describe, it } from 'node:test';
import { loopDiskMissing } from '../../support/disk/loop-disk.ts';
import { seeded } from '../crash/kit/random.ts';
import { CodeCutRun } from './kit/code-cut-run.ts';
import { CutRun } from './kit/cut-run.ts';

// biome-ignore lint/style/noProcessEnv: switches of the test run
const { SVC_RECOVERY_CUTS = '3', SVC_CRASH_SEED: seed = String(Date.now() % 1_000_000) } = process.env;
const CUTS = Number(SVC_RECOVERY_CUTS);

describe('a power cut over a restore', () => {
  for (const fileSystem of ['ext4', 'xfs'] as const)
    it(`leaves the old state or the new one, over ${CUTS} of them on ${fileSystem}`, {
      skip: loopDiskMissing(fileSystem),
      timeout: 300_000 + CUTS * 60_000,
    }, async (t) => {
      console.log(`SVC_CRASH_SEED=${seed}`);
      const run = await CutRun.create(t, { random: seeded(Number(seed)), fileSystem });
      for (let cut = 0; cut < CUTS; cut += 1) await run.cut();
      console.log(run.summary());
      if (run.faults.length > 0) throw new Error(run.faults.slice(0, 10).join('\n'));
    });
});

describe('a power cut over an exchange of code', () => {
  for (const fileSystem of ['ext4', 'xfs'] as const)
    it(`leaves one version or the other, over ${CUTS} of them on ${fileSystem}`, {
      skip: loopDiskMissing(fileSystem),
      timeout: 900_000 + CUTS * 300_000,
    }, async (t) => {
      console.log(`SVC_CRASH_SEED=${seed}`);
      const run = await CodeCutRun.create(t, { random: seeded(Number(seed)), fileSystem });
      while (run.cuts < CUTS) await run.release();
      console.log(run.summary());
      if (run.faults.length > 0) throw new Error(run.faults.slice(0, 10).join('\n'));
    });
});
