// remind: durable reminders. The due time counts from receipt of the line, so a retry or late attempt does not move it.
//
//   REMIND-1  A reminder is a task and nothing else, so the list shows exactly those that will come.
//   REMIND-2  A person's reminders are numbered on while one of them waits, so a number that was read does not come to mean another reminder.
//   REMIND-3  Reminders are listed and cancelled in the conversation they belong to. A private conversation has those of all.
import {
  type ChatCtx,
  definePlugin,
  md,
  mention,
  type Scheduled,
  t,
  type UserRef,
  userError,
} from '../../sdk/index.ts';
import { remindTexts } from '../../sdk/text/chat-texts.ts';
import { cancelled, promised, reminderList } from './rules.ts';

const DAY_MS = 86_400_000;
const MOST_READ = 1_000;

export const remind = definePlugin({
  name: 'remind',
  config: { maxDays: t.integer({ default: 365, minimum: 1, description: 'How far ahead a reminder may lie' }) },
  setup(p) {
    const last = p.state('last', { scope: 'user', value: t.integer() });
    const fire = p.task(
      'fire',
      { data: { to: t.conversation(), who: t.user(), text: t.string(), n: t.optional(t.integer()) } },
      (ctx, { to, who, text }) => {
        ctx.send(to, md`${mention(who)}${remindTexts(ctx.languageOf(to)).reminder(text)}`);
      },
    );
    const waiting = (ctx: ChatCtx, limit = MOST_READ) => ctx.scheduled(fire, { prefix: ownedBy(ctx.user), limit });

    p.command(
      'remind',
      {
        summary: 'Reminds you later',
        args: {
          when: t.when({ description: '10m, "in 5 minutes", "tomorrow at 9", in front of the text or behind it' }),
          text: t.rest(),
        },
        phrases: ['remind me to {text}', 'remind me {when} to {text}'],
        examples: ['/remind 10m tea'],
      },
      async (ctx, { when, text }) => {
        const { receivedAt } = ctx.item;
        const texts = remindTexts(ctx.language);
        if (when > receivedAt + p.config.maxDays * DAY_MS) throw userError(texts.tooFar(p.config.maxDays));
        if (when < receivedAt) throw userError(texts.past);
        const before = (await ctx.get(last)) ?? 0;
        const n = (await waiting(ctx, 1)).length === 0 ? 1 : before + 1;
        ctx.set(last, n);
        const data = { to: ctx.conversation, who: ctx.user, text, n };
        ctx.schedule(fire, data, { at: when, key: `${ownedBy(ctx.user)}${n}` });
        return promised(when, { now: receivedAt, timezone: ctx.timezone }, texts);
      },
    );

    p.command(
      'reminders',
      { summary: 'Lists your reminders', aliases: ['remind list'], examples: ['/remind list'] },
      async (ctx) => {
        const reminders = (await waiting(ctx))
          .filter(isOf(ctx))
          .map(({ at, data }) => ({ n: data.n ?? 0, at, text: data.text }));
        return reminderList(reminders, { now: ctx.now(), timezone: ctx.timezone }, remindTexts(ctx.language));
      },
    );

    p.command(
      'unremind',
      {
        summary: 'Cancels one of your reminders',
        aliases: ['remind cancel'],
        args: { n: t.integer({ description: 'Its number in /remind list' }) },
        examples: ['/remind cancel 2'],
      },
      async (ctx, { n }) => {
        const texts = remindTexts(ctx.language);
        const found = (await waiting(ctx)).filter(isOf(ctx)).find(({ data }) => data.n === n);
        if (found === undefined) throw userError(texts.unknown(n));
        ctx.cancel(fire, found.key);
        return cancelled(n, found.data.text, texts);
      },
    );
  },
});

/** Begins the keys of a person's reminders. As JSON, because ids may hold any character. */
const ownedBy = ({ endpoint, id }: UserRef): string => JSON.stringify([endpoint, id]);

const isOf =
  ({ conversation: { kind, endpoint, id } }: ChatCtx) =>
  ({ data: { to } }: Scheduled<{ readonly to: { readonly endpoint: string; readonly id: string } }>): boolean =>
    kind === 'private' || (to.endpoint === endpoint && to.id === id);
