// kill -9 at the steps of making, verifying, restoring and undoing, with real messages, sends and jobs: the old state or the new one is there, whole,
// the next try ends well, and nothing that was handled is handled again.
import { describe, it } from 'node:test';
import { seeded } from '../crash/kit/random.ts';
import { KillRun } from './kit/kill-run.ts';
import { ReleaseRun } from './kit/release-run.ts';

// biome-ignore lint/style/noProcessEnv: switches of the test run
const { SVC_RECOVERY_KILLS = '10', SVC_CRASH_SEED: seed = String(Date.now() % 1_000_000) } = process.env;
const KILLS = Number(SVC_RECOVERY_KILLS);
/** Each of them takes an installation of packages, and kills up to four times. */
const RELEASES = Math.ceil(KILLS / 20);

describe('a kill of what makes, proves or restores a checkpoint', () => {
  it(`leaves a whole state and handles nothing twice, over ${KILLS} of them`, {
    timeout: 600_000 + KILLS * 60_000,
  }, async (t) => {
    console.log(`SVC_CRASH_SEED=${seed}`);
    const run = await KillRun.create(t, { random: seeded(Number(seed)), kills: KILLS });
    await run.run();
    console.log(run.summary());
    if (run.faults.length > 0) throw new Error(run.faults.slice(0, 10).join('\n'));
  });
});

describe('a kill of what switches the code of a release', () => {
  it(`leaves one version or the other, over ${RELEASES} releases`, {
    timeout: 600_000 + RELEASES * 600_000,
  }, async (t) => {
    console.log(`SVC_CRASH_SEED=${seed}`);
    const run = await ReleaseRun.create(t, { random: seeded(Number(seed)) });
    for (let release = 0; release < RELEASES; release += 1) await run.release();
    console.log(run.summary());
    if (run.faults.length > 0) throw new Error(run.faults.slice(0, 10).join('\n'));
  });
});
