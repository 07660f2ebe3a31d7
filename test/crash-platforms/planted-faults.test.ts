// The kit is only worth something if it finds faults: each one that is planted must be seen.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { seeded } from '../crash/kit/random.ts';
import type { Kill } from './kit/kills.ts';
import { platformsHere } from './kit/platforms/table.ts';
import { PlatformsRun, type PlatformsRunOptions } from './kit/run.ts';

const PLATFORMS = platformsHere();
/** Those that hear of an acknowledgement at once. */
const ACKNOWLEDGED = ['webhook', 'line', 'sandbox', 'telegram, webhook', 'slack, Events API', 'onebot11, HTTP'];
/** The lost ones never come: nothing is waited for. */
const REST_MS = 10_000;
const MOST_RUNS = 3;

interface Planted {
  readonly name: string;
  readonly options: Pick<PlatformsRunOptions, 'plant' | 'forgetful' | 'behind'>;
  readonly kills: number;
  /** Each of them. */
  readonly seen: readonly RegExp[];
}
const PLANTED: readonly Planted[] = [
  {
    name: 'acknowledged before it is stored',
    options: { plant: 'ack-before-commit' },
    kills: 12,
    seen: [/was acknowledged and never answered/],
  },
  {
    name: 'state that is not of the same commit',
    options: { forgetful: true },
    kills: 3,
    seen: [/were both handled as number 1/],
  },
  {
    name: 'an answer that shows twice, of which the host knows nothing',
    options: { behind: 'doubled' },
    kills: 3,
    seen: [/shows twice in one life|shows 2 times, in lives (\d+), \1$/],
  },
  {
    name: 'an answer that the platform took and never showed',
    options: { behind: 'lost' },
    kills: 3,
    seen: [/was (?:acknowledged|kept) and never answered/],
  },
  {
    name: 'edits that do not show, parts that are missing, files that show twice, presses that were handled twice',
    options: { behind: 'extras' },
    kills: 5,
    seen: [
      /edited: the last edit does not show: "T\w+X n\d+ once"/,
      /split: \d parts show \d+ words; the \d+th is missing/,
      /file: its file shows 2 times/,
      /button: its press was handled 2 times/,
    ],
  },
];

describe('the oracle of the kill test of the platforms', () => {
  for (const { name, options, kills, seen } of PLANTED) {
    it(`finds: ${name}`, { timeout: 600_000 }, async (t) => {
      const random = seeded(1);
      const faults: string[] = [];
      const isSeen = (one: RegExp): boolean => faults.some((fault) => one.test(fault));

      // Chance has a part in what a run brings about: a slow machine has less traffic.
      for (let round = 0; round < MOST_RUNS && !seen.every(isSeen); round += 1) {
        const run = await PlatformsRun.create(t, { platforms: PLATFORMS, random, restMs: REST_MS, ...options });
        await run.begin();
        for (let index = 0; index < kills; index += 1) {
          const platform = ACKNOWLEDGED[index % ACKNOWLEDGED.length] ?? '';
          const kill: Kill = { kind: 'acknowledged', platform, pass: 2, delayMs: 0 };
          await run.kill(kill);
        }
        faults.push(...(await run.verdict()).faults);
      }

      for (const one of seen) {
        const found = faults.filter((fault) => one.test(fault));
        console.log(`${name}: ${found.length} faults were found as ${one}`);
        assert.ok(found.length > 0, `not seen as ${one}; ${faults.length} faults: ${faults.slice(0, 5).join('; ')}`);
      }
    });
  }
});
