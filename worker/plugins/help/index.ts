// help: the commands of the generation that handles the line, or one of them in full.
import { definePlugin, t } from '../../sdk/index.ts';
import { helpList, helpOne } from './rules.ts';

export const help = definePlugin({
  name: 'help',
  uses: ['commands'],
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
  },
});
