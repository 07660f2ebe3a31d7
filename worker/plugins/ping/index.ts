// ping: says that the way from a line to its answer works, and how long the line waited.
import { definePlugin } from '../../sdk/index.ts';
import { pongText } from './rules.ts';

export const ping = definePlugin({
  name: 'ping',
  setup(p) {
    p.command(
      'ping',
      { summary: 'Answers, and says how long the line waited', phrases: ['ping'], examples: ['/ping', 'ping'] },
      (ctx) => pongText(ctx.now() - ctx.item.receivedAt),
    );
  },
});
