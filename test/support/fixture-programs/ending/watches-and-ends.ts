// Watches projects that are removed, and ends its watch at many moments of that. Nothing of it may keep the process alive.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../../../shared/time/clock.ts';
import { watchProject } from '../../../../worker/runtime/loading/watch.ts';

const ROUNDS = 60;
const MOMENTS = 30;

for (let round = 0; round < ROUNDS; round += 1) {
  const project = mkdtempSync(join(tmpdir(), 'svc-watched-'));
  for (const name of ['svc.config.yml', '.env', 'package-lock.json']) writeFileSync(join(project, name), 'a: 1');
  const end = await watchProject({ project, clock: systemClock, changed: () => {}, failed: console.error });
  if (round % 3 > 0) await turn();
  rmSync(project, { recursive: true });
  for (let moment = 0; moment < round % MOMENTS; moment += 1) await (round % 4 < 2 ? turn() : Promise.resolve());
  await end();
}
console.log('ended');

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
