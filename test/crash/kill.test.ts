// kill -9 of the real worker at random moments and at every named step of a message's way, under load. SVC_CRASH_KILLS says how often
// (default 30), SVC_CRASH_SEED replays a run.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { CrashRun } from './kit/crash-run.ts';
import { planKills } from './kit/kill-plan.ts';
import { seeded } from './kit/random.ts';

// biome-ignore lint/style/noProcessEnv: switches of the test run
const { SVC_CRASH_KILLS: kills = '30', SVC_CRASH_SEED: seed = String(Date.now() % 1_000_000) } = process.env;
const KILLS = Number(kills);
const LEAST_OF_A_STEP = KILLS >= 300 ? 5 : 1;
const LEAST_OPEN = 20;

it(`loses nothing and says nothing twice over ${KILLS} kills`, { timeout: 60_000 + KILLS * 4_000 }, async (t) => {
  const random = seeded(Number(seed));
  console.log(`SVC_CRASH_SEED=${random.seed}`);
  const run = await CrashRun.create(t, { random });
  await run.begin();

  for (const kill of planKills(KILLS, random)) await run.kill(kill);
  const faults = await run.verdict();

  console.log(run.summary());
  assert.deepEqual(faults.slice(0, 30), [], `${faults.length} promises were broken`);
  const missed = [...run.stepsHit()].filter(([, times]) => times < LEAST_OF_A_STEP);
  assert.deepEqual(missed, [], 'every step was hit');
  assert.ok(Math.min(...run.openAtKill) >= LEAST_OPEN, `at least ${LEAST_OPEN} requests were open at each kill`);
});
