// jobs: does what scheduled jobs do themselves. The host adds this plugin by itself, in a slot that no configuration names.
import { definePlugin, giveUp, t, type WorkCommand, type WorkOutcome } from '../../sdk/index.ts';

export const jobs = definePlugin({
  name: 'jobs',
  uses: ['workroom'],
  setup(p) {
    p.task('say', { data: { to: t.conversation(), text: t.string() } }, (ctx, { to, text }) => {
      ctx.send(to, text);
    });

    const item = {
      board: t.string(),
      title: t.string(),
      assign: t.optional(t.string()),
      due: t.optional(t.integer()),
    };
    p.task('item', { data: item }, async (ctx, { board, title, assign, due }) => {
      const carryOut = async (command: WorkCommand): Promise<Extract<WorkOutcome, { kind: 'accepted' }>> => {
        const outcome = await ctx.workroom.do(command);
        // Another attempt would be refused too. An operator mends the board, and replays the item.
        if (outcome.kind === 'refused') throw giveUp(outcome.reason);
        return outcome;
      };
      const made = await carryOut({ kind: 'new', board, title, ...(assign === undefined ? {} : { assign }) });
      if (due !== undefined) await carryOut({ kind: 'due', item: made.item, due });
    });
  },
});
