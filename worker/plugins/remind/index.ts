// remind: durable reminders. The due time counts from receipt of the line, so a retry or late attempt does not move it.
import { definePlugin, md, mention, showDuration, t, userError } from '../../sdk/index.ts';
import { remindTexts } from '../../sdk/text/chat-texts.ts';

const DAY_MS = 86_400_000;

export const remind = definePlugin({
  name: 'remind',
  config: { maxDays: t.integer({ default: 365, minimum: 1, description: 'How far ahead a reminder may lie' }) },
  setup(p) {
    const fire = p.task(
      'fire',
      { data: { to: t.conversation(), who: t.user(), text: t.string() } },
      (ctx, { to, who, text }) => {
        ctx.send(to, md`${mention(who)}${remindTexts(ctx.languageOf(to)).reminder(text)}`);
      },
    );

    p.command(
      'remind',
      {
        summary: 'Reminds you later',
        args: { in: t.duration(), text: t.rest() },
        phrases: ['remind me in {in} to {text}'],
        examples: ['/remind 10m tea'],
      },
      (ctx, args) => {
        if (args.in > p.config.maxDays * DAY_MS) throw userError(remindTexts(ctx.language).tooFar(p.config.maxDays));
        ctx.schedule(
          fire,
          { to: ctx.conversation, who: ctx.user, text: args.text },
          { at: ctx.item.receivedAt + args.in },
        );
        return remindTexts(ctx.language).noted(showDuration(args.in));
      },
    );
  },
});
