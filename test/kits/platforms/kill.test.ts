// kill -9 of one host with an account of every platform, under load on all of them at once. Each delivery comes once where it was
// acknowledged. SVC_CRASH_KILLS says how often (default 25), SVC_CRASH_SEED replays a plan.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { assertKept } from '../crash/kit/kept.ts';
import { seeded } from '../crash/kit/random.ts';
import { planKills } from './kit/kills.ts';
import { platformsHere } from './kit/platforms/table.ts';
import { tableOf } from './kit/print.ts';
import { PlatformsRun } from './kit/run.ts';

// biome-ignore lint/style/noProcessEnv: switches of the test run
const { SVC_CRASH_KILLS: kills = '25', SVC_CRASH_SEED: seed = String(Date.now() % 1_000_000) } = process.env;
const KILLS = Number(kills);
const PLATFORMS = platformsHere();
/** After so many kills each account has had each of its extras; before, one of them. */
const ALL_EXTRAS = 100;

it(`loses nothing on any platform over ${KILLS} kills`, { timeout: 600_000 + KILLS * 20_000 }, async (t) => {
  const random = seeded(Number(seed));
  console.log(`SVC_CRASH_SEED=${random.seed}`);
  const run = await PlatformsRun.create(t, { platforms: PLATFORMS, random });
  await run.begin();

  for (const kill of planKills(KILLS, PLATFORMS, random)) await run.kill(kill);
  const { faults, rows, missed } = await run.verdict();

  console.log(`${tableOf(rows)}\n${missed} kills came before their platform was so far`);
  assertKept(faults, random);
  for (const { name, again } of rows)
    assert.ok(again <= KILLS, `${name}: ${again} show again after ${KILLS} kills, more than one for each`);
  assert.ok(rows.every(({ answered }) => answered > 0));
  for (const { name, extras } of rows) {
    const asked = PLATFORMS.find((one) => one.name === name)?.extras ?? [];
    const left = asked.filter((extra) => extras[extra] === undefined);
    const most = KILLS < ALL_EXTRAS ? asked.length - 1 : 0;
    assert.ok(left.length <= Math.max(0, most), `${name}: no line asked for ${left.join(', ')}`);
  }
});
