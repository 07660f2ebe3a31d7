// One run of a test story, with its check.
import type { TestBot } from './test-bot.ts';

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
