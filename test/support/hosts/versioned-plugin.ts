// A plugin that says which of its versions answers, for tests of generations.
import { definePlugin } from '../../../worker/sdk/index.ts';

/** Says its version; `hold` waits until the test lets go. */
export function versioned(version: () => string) {
  const waiting: (() => void)[] = [];
  const aborted: string[] = [];
  const plugin = definePlugin({
    name: 'talker',
    setup(p) {
      const mine = version();
      p.signal.addEventListener('abort', () => void aborted.push(mine));
      p.on('message', { timeoutMs: 600_000 }, async (_ctx, { text }) => {
        if (text === 'hold') await new Promise<void>((resolve) => waiting.push(resolve));
        return `${text} by ${mine}`;
      });
    },
  });
  return { plugin, aborted, release: () => waiting.splice(0).forEach((go) => go()) };
}
