// help: the commands of the generation that handles the line, or one of them in full; the nearest one to a command that is none.
import { definePlugin, t } from '../../sdk/index.ts';
import { helpList, helpOne, unknownCommand } from './rules.ts';

export const help = definePlugin({
  name: 'help',
  uses: ['commands'],
  config: {
    unknown: t.boolean({
      default: true,
      description: 'Answers a command that is not there, in private and where the bot is spoken to',
    }),
  },
  setup(p) {
    p.command(
      'help',
      {
        summary: 'Lists the commands, or explains one',
        args: { command: t.optional(t.string()) },
        examples: ['/help', '/help help'],
      },
      (ctx, { command }) =>
        command === undefined ? helpList(ctx.commands.list()) : helpOne(ctx.commands.list(), command),
    );
    // After the others: whoever has taken the line with stop() has answered it.
    if (p.config.unknown)
      p.on('message', { addressed: true, order: 'after' }, (ctx, { text }) =>
        unknownCommand(ctx.commands.list(), text),
      );
  },
});
