// Runs a test story once, and again with a kill at each point that it passed.
import { tell } from './tell-story.ts';
import type { TestBot } from './test-bot.ts';

/** A bot that can be killed at the n-th point it passes. */
export interface Killable extends TestBot {
  killAt(passes: readonly number[]): void;
}

/**
 * Runs the story, then again with a kill at each point it passed: received, stored, attempt, called:<step>, kept:<step>, decided, committed,
 * sending, posted, sent. `check` must hold after every run; `point` names the kill.
 */
export async function everyCrash<B extends TestBot>(
  make: () => Promise<B>,
  story: (bot: B) => Promise<void>,
  check: (bot: B, point: string) => void | Promise<void>,
): Promise<void> {
  const points = await tell(make, story, (bot) => check(bot, 'none'));
  for (const [index, point] of points.entries()) {
    await tell(
      async () => {
        const bot = await make();
        (bot as B & Partial<Killable>).killAt?.([index]);
        return bot;
      },
      story,
      (bot) => check(bot, `${index}: ${point}`),
    );
  }
}
