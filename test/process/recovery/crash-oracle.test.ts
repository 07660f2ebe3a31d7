// The oracle is only worth something if it finds faults: each one that is planted into the failpoints build must be seen.
// Commit without sync needs more than SIGKILL, which loses nothing that the kernel has: see crash/power-cut.test.ts.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CrashRun } from '../../kits/crash/kit/crash-run.ts';
import type { Kill } from '../../kits/crash/kit/kill-plan.ts';
import { type Random, seeded } from '../../kits/crash/kit/random.ts';

const MOST_RUNS = 6;
/**
 * When the worker is killed: for the loss where the writer is about to commit what was acknowledged (a moment by chance may miss it on a fast disk); the
 * followers have to see events first.
 */
const beforeCommit = (random: Random): Kill => ({ kind: 'step', step: 'writer.sync', pass: random.between(5, 30) });
const PLANTED = [
  { plant: 'ack-before-commit', kills: 12, at: beforeCommit, seen: [/was acknowledged and is lost/] },
  {
    plant: 'seq-from-memory',
    kills: 6,
    at: (): Kill => ({ kind: 'followed', deliveries: 60 }),
    seen: [/event ids went back|told of a gap: .*ahead|event \d+ was ".*" and is/],
  },
  {
    plant: 'lane-not-held',
    kills: 6,
    at: (): Kill => ({ kind: 'followed', deliveries: 60 }),
    seen: [
      /T\w+X was handled before T\w+X, of root\/irc:irc~\w+ u\d+ too/,
      /T\w+X was handled before T\w+X, of root\/webhook:webhook~/,
      /u\d+ was answered T\w+X before T\w+X/,
    ],
  },
] as const;

describe('the oracle of the kill test', () => {
  for (const { plant, kills, at, seen } of PLANTED) {
    it(`finds ${plant}`, { timeout: 600_000 }, async (t) => {
      const random = seeded(1);
      const faults: string[] = [];
      const isSeen = (fault: RegExp): boolean => faults.some((found) => fault.test(found));

      // Chance has a part in what a run brings about: a machine that is quick leaves less to each.
      for (let round = 0; round < MOST_RUNS && !seen.every(isSeen); round += 1) {
        const run = await CrashRun.create(t, { random, plant, restMs: 6_000 });
        await run.begin();
        for (let kill = 0; kill < kills; kill += 1) await run.kill(at(random));
        faults.push(...(await run.verdict()));
      }

      for (const fault of seen)
        assert.ok(
          isSeen(fault),
          `${plant} was not seen by ${fault}; ${faults.length} other faults: ${faults.slice(0, 5).join('; ')}`,
        );
    });
  }
});
