// A daemon for SVC_SOAK_SECONDS (default 60) under everything at once. SVC_SOAK_SEED replays the draws of a run; SVC_SOAK_PLANT=leak makes the
// host keep what it should not, to see that the run fails.
import { it } from 'node:test';
import { assertKept } from '../crash/kit/kept.ts';
import { seeded } from '../crash/kit/random.ts';
import { SoakRun } from './kit/soak-run.ts';

// biome-ignore lint/style/noProcessEnv: switches of the test run
const {
  SVC_SOAK_SECONDS: asked = '60',
  SVC_SOAK_SEED: seed = String(Date.now() % 1_000_000),
  SVC_SOAK_PLANT: plant,
} = process.env;
const SECONDS = Number(asked);
const skip = process.platform === 'linux' ? false : 'memory and descriptors are read from /proc';

it(`loses nothing in ${SECONDS} s and stays flat`, { skip, timeout: (SECONDS * 2 + 240) * 1_000 }, async (t) => {
  const random = seeded(Number(seed));
  const run = await SoakRun.create(t, {
    random,
    seconds: SECONDS,
    ...(plant === undefined ? {} : { plant }),
  });

  const faults = await run.run();

  console.log(run.summary());
  assertKept(faults, random);
});
