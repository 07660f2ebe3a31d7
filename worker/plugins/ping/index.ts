// ping: answers with the waiting time of the line, which proves that messages are received, handled and answered.
import { definePlugin } from '../../sdk/index.ts';
import { pingTexts } from '../../sdk/text/chat-texts.ts';
import { pongText } from './rules.ts';

export const ping = definePlugin({
  name: 'ping',
  setup(p) {
    p.command(
      'ping',
      { summary: 'Answers, and says how long the line waited', phrases: ['ping'], examples: ['/ping', 'ping'] },
      (ctx) => pongText(ctx.now() - ctx.item.receivedAt, pingTexts(ctx.language)),
    );
  },
});
