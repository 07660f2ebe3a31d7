// help: lists the commands of the current generation or explains one. For an unknown command it suggests the nearest name.
import { definePlugin, t } from '../../sdk/index.ts';
import { helpTexts } from '../../sdk/text/chat-texts.ts';
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
        command === undefined
          ? helpList(ctx.commands.list(), helpTexts(ctx.language))
          : helpOne(ctx.commands.list(), command, helpTexts(ctx.language)),
    );
    // Runs after other handlers: a plugin that called stop() has already answered.
    if (p.config.unknown)
      p.on('message', { addressed: true, order: 'after' }, (ctx, { text }) =>
        unknownCommand(ctx.commands.list(), text, helpTexts(ctx.language)),
      );
  },
});
