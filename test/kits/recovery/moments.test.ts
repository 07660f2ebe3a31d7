// Journal, jobs and events of each checkpoint stand at one position, while people, messages and jobs write as fast as the host takes it.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { moments } from './kit/moments.ts';

// biome-ignore lint/style/noProcessEnv: a switch of the test run
const CHECKPOINTS = Number(process.env['SVC_RECOVERY_MOMENTS'] ?? 5);

it(`each of ${CHECKPOINTS} checkpoints under load is of one moment, with all that was acknowledged before`, {
  timeout: 300_000 + CHECKPOINTS * 60_000,
}, async (t) => {
  const { made, faults, unitsPerSecond } = await moments(t, { most: CHECKPOINTS });
  console.log(`${made} checkpoints at ${unitsPerSecond} units/s`);
  assert.deepEqual(faults, []);
  assert.equal(made, CHECKPOINTS);
});
