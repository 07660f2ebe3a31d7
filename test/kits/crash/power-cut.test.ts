// Power cuts: the state lies on an ext4 file system of its own, which is shut down under load without writing its log (what was not synced is
// gone, as when the plug is pulled), then the worker is killed, the disk mounted again and the worker started. SIGKILL alone cannot show a
// missing sync: what a process has written stays with the kernel. Root and a loop device are needed.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { LoopDisk, loopDiskMissing } from '../../support/disk/loop-disk.ts';
import type { Cleanup } from '../../support/temporary-project.ts';
import { CrashRun } from './kit/crash-run.ts';
import { assertKept } from './kit/kept.ts';
import { type Random, seeded } from './kit/random.ts';

// biome-ignore lint/style/noProcessEnv: switches of the test run
const { SVC_CRASH_KILLS: kills = '10', SVC_CRASH_SEED: seed = String(Date.now() % 1_000_000) } = process.env;
const CUTS = Math.max(3, Math.round(Number(kills) / 6));
const missing = loopDiskMissing();
/** The host cannot come to rest then, which takes as long as all the cuts. */
const isShort = Number(kills) < 30 && 'planted by `npm run crash`';

async function cutAgainAndAgain(
  t: Cleanup,
  { random, cuts, plant }: { random: Random; cuts: number; plant?: string },
): Promise<{ run: CrashRun; faults: readonly string[] }> {
  let disk: LoopDisk | undefined;
  const run = await CrashRun.create(t, {
    random,
    ...(plant === undefined ? {} : { plant, restMs: 6_000 }),
    prepare: ({ paths }) => {
      disk = new LoopDisk(t, paths.stateDir);
    },
    cut: async (life) => {
      // Frozen first: without power nothing is answered, and a sync that the cut overtakes tells nobody that it worked.
      const cutPower = await disk?.arm();
      life.freeze();
      await cutPower?.();
      await life.kill();
      disk?.unmount();
      disk?.mount();
    },
  });
  await run.begin();
  for (let cut = 0; cut < cuts; cut += 1) await run.kill({ kind: 'acknowledged', delayMs: random.between(10, 120) });
  return { run, faults: await run.verdict() };
}

describe('a power cut', { skip: missing }, () => {
  it(`loses nothing that was acknowledged, over ${CUTS} of them`, { timeout: 300_000 + CUTS * 10_000 }, async (t) => {
    const random = seeded(Number(seed));
    console.log(`SVC_CRASH_SEED=${random.seed}`);

    const { run, faults } = await cutAgainAndAgain(t, { random, cuts: CUTS });

    console.log(run.summary());
    assertKept(faults, random);
  });

  it('shows a commit that was not synced', { skip: missing || isShort, timeout: 600_000 }, async (t) => {
    const { faults } = await cutAgainAndAgain(t, { random: seeded(1), cuts: 3, plant: 'commit-without-sync' });

    // Of what was acknowledged the followers may have heard all: then it is events that were told and are not there.
    assert.ok(
      faults.some((fault) => /was acknowledged and is lost|event ids went back: head is/.test(fault)),
      `not seen; ${faults.length} other faults: ${faults.slice(0, 5).join('; ')}`,
    );
  });
});
