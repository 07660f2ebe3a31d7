// As `everyCrash`, for a long story: killed at each fifth point that it passes. A message passes eight kinds of points, so that each kind takes its
// turn. `npm run exhaustive` kills at every point.
import assert from 'node:assert/strict';
import type { Killable } from '../../worker/testing/every-crash.ts';
import type { TestBot } from '../../worker/testing/index.ts';
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
  const points = await told(await make(), { story, check: (bot) => check(bot, 'none') });
  assert.ok(points.length >= LEAST_POINTS, `${points.length} points`);
  for (let index = 0; index < points.length; index += STEP) {
    const bot = await make();
    (bot as B & Killable).killAt([index]);
    await told(bot, { story, check: (killed) => check(killed, `${index}: ${points[index]}`) });
  }
}

async function told<B extends TestBot>(
  bot: B,
  { story, check }: Pick<Crashes<B>, 'story'> & { readonly check: (bot: B) => void | Promise<void> },
): Promise<readonly string[]> {
  try {
    await story(bot);
    await check(bot);
    return [...bot.points];
  } finally {
    await bot.stop();
  }
}
