// The kit is only worth something if it finds faults: each one that is planted must be seen.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Random, seeded } from '../crash/kit/random.ts';
import { type Kill, planKills } from './kit/kills.ts';
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
  readonly kills: (random: Random) => readonly Kill[];
  /** Each of them. */
  readonly seen: readonly RegExp[];
}
/** A moment after the second acknowledgement of a life. */
const acknowledged =
  (kills: number): Planted['kills'] =>
  () =>
    Array.from({ length: kills }, (_, index): Kill => {
      const platform = ACKNOWLEDGED[index % ACKNOWLEDGED.length] ?? '';
      return { kind: 'acknowledged', platform, pass: 2, delayMs: 0 };
    });
/** At the moments at which a run without a fault is killed as well. */
const asPlanned: Planted['kills'] = (random) => planKills(25, PLATFORMS, random);
const PLANTED: readonly Planted[] = [
  {
    name: 'acknowledged before it is stored',
    options: { plant: 'ack-before-commit' },
    kills: acknowledged(12),
    seen: [/was acknowledged and never answered/],
  },
  {
    name: 'state that is not of the same commit',
    options: { forgetful: true },
    kills: acknowledged(3),
    seen: [/were both handled as number 1/],
  },
  {
    name: 'an answer that shows twice, of which the host knows nothing',
    options: { behind: 'doubled' },
    kills: acknowledged(3),
    seen: [/shows twice in one life|shows 2 times, in lives (\d+), \1$/],
  },
  {
    name: 'an answer that the platform took and never showed',
    options: { behind: 'lost' },
    kills: acknowledged(3),
    seen: [/was (?:acknowledged|kept) and never answered/],
  },
  {
    name: 'calls of an account beside each other, where the platform has no key',
    options: { plant: 'calls-not-alone' },
    kills: asPlanned,
    seen: [/\d sends of the account show again at the end of life \d+, where one may/],
  },
  {
    name: 'a send that is taken for sent before the platform has it',
    options: { plant: 'sent-before-call' },
    kills: asPlanned,
    seen: [/was (?:acknowledged|kept) and never answered/],
  },
  {
    name: 'another key at each attempt',
    options: { plant: 'key-of-attempt' },
    kills: asPlanned,
    seen: [/the answer to \w+ shows 2 times, in lives/],
  },
  {
    name: 'edits that do not show, parts that are missing, files that show twice, presses that were handled twice',
    options: { behind: 'extras' },
    kills: acknowledged(5),
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
        for (const kill of kills(random)) await run.kill(kill);
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
