// Runs a test story once, and again with a kill at each point that it passed.
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

/** Resolves with the points that the story passed, once `check` held. The bot is stopped either way. */
export async function tell<B extends TestBot>(
  make: () => Promise<B>,
  story: (bot: B) => Promise<void>,
  check: (bot: B) => void | Promise<void>,
): Promise<readonly string[]> {
  const bot = await make();
  try {
    await story(bot);
    await check(bot);
    return [...bot.points];
  } finally {
    await bot.stop();
  }
}
