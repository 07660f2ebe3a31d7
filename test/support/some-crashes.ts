// As `everyCrash`, for a long story: killed at each fifth point that it passes. A message passes eight kinds of points, so that each kind takes its
// turn. `npm run exhaustive` kills at every point.
import assert from 'node:assert/strict';
import type { Killable } from '../../worker/testing/every-crash.ts';
import type { TestBot } from '../../worker/testing/index.ts';
import { tell } from '../../worker/testing/tell-story.ts';
import { ofRun } from './run-length.ts';

/** Fewer and the story has hardly begun. */
const LEAST_POINTS = 40;
const STEP = ofRun({ short: 5, long: 1 });

interface Crashes<B extends TestBot> {
  readonly make: () => Promise<B>;
  readonly story: (bot: B) => Promise<void>;
  readonly check: (bot: B, point: string) => void | Promise<void>;
}

export async function someCrashes<B extends TestBot>({ make, story, check }: Crashes<B>): Promise<void> {
  const points = await tell(make, story, (bot) => check(bot, 'none'));
  assert.ok(points.length >= LEAST_POINTS, `${points.length} points`);
  for (let index = 0; index < points.length; index += STEP) {
    const killed = async (): Promise<B> => {
      const bot = await make();
      (bot as B & Killable).killAt([index]);
      return bot;
    };
    await tell(killed, story, (bot) => check(bot, `${index}: ${points[index]}`));
  }
}
