// kill -9 of the real worker at random moments and at every named step of a message's way, under load. SVC_CRASH_KILLS says how often
// (default 4, and what it takes to meet every step), SVC_CRASH_SEED replays a run.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { CrashRun, LEAST_OPEN } from './kit/crash-run.ts';
import { assertKept } from './kit/kept.ts';
import { planKills, underLoad } from './kit/kill-plan.ts';
import { seeded } from './kit/random.ts';

// biome-ignore lint/style/noProcessEnv: switches of the test run
const { SVC_CRASH_KILLS: kills = '4', SVC_CRASH_SEED: seed = String(Date.now() % 1_000_000) } = process.env;
const KILLS = Number(kills);
const LEAST_OF_A_STEP = KILLS >= 100 ? 5 : 1;
/** A busy machine may not get to the n-th pass of a step in the time that a life has: such a kill is made up for at the first pass. */
const MOST_MADE_UP = 60;

it(`loses nothing and says nothing twice over ${KILLS} kills`, { timeout: 300_000 + KILLS * 10_000 }, async (t) => {
  const random = seeded(Number(seed));
  console.log(`SVC_CRASH_SEED=${random.seed}`);
  const run = await CrashRun.create(t, { random });
  await run.begin();

  for (const kill of planKills(KILLS, random)) await run.kill(kill);
  for (let made = 0; made < MOST_MADE_UP; made += 1) {
    const step = [...run.stepsHit()].find(([, times]) => times < LEAST_OF_A_STEP)?.[0];
    if (step === undefined) break;
    await run.kill({ kind: 'step', step, pass: 1 });
  }
  // Kills before the first acknowledgement of a life are additional: nothing can be asked of the requests that they cut.
  for (let made = 0; made < KILLS && run.openAtKill.length < KILLS; made += 1) await run.kill(underLoad(random));
  const faults = await run.verdict();

  console.log(run.summary());
  assertKept(faults, random);
  const missed = [...run.stepsHit()].filter(([, times]) => times < LEAST_OF_A_STEP);
  assert.deepEqual(missed, [], 'every step was hit');
  assert.ok(run.orderedPairs > KILLS, `${run.orderedPairs} neighbours in a conversation were looked at`);
  assert.ok(run.openAtKill.length >= KILLS, `${run.openAtKill.length} kills came after a first acknowledgement`);
  assert.ok(
    Math.min(...run.openAtKill) >= LEAST_OPEN,
    `each kill after the first acknowledgement of a life cuts at least ${LEAST_OPEN} requests`,
  );
});
