// The configuration of the host that is killed, and the plugin that answers in it.
import { WORDS } from './extras.ts';
import { PUBLIC_URL } from './links.ts';
import type { OpenPlatform } from './platform.ts';

/** Every platform with reactions takes it. */
const REACTION = '👍';

/**
 * Says back the token of each line with the count of its conversation, which is state of the host: handled twice, it would show. As a text that
 * is edited, in parts, with a file, with a button or with a reaction where that is asked for; presses are counted by their line. A line may
 * come as a file.
 */
export const COUNTING = `
import { definePlugin, t } from 'svc';
export default definePlugin({
  name: 'counting',
  config: { forgetful: t.boolean({ default: false }) },
  setup(p) {
    const count = p.state('count', { scope: 'conversation', value: t.integer() });
    const remembered = new Map();
    const answer = async (ctx, token) => {
      const stored = (await ctx.get(count)) ?? 0;
      const number = 1 + (p.config.forgetful ? remembered.get(ctx.conversation.id) ?? 0 : stored);
      remembered.set(ctx.conversation.id, number);
      ctx.set(count, number);
      return token + ' n' + number;
    };
    const presses = p.state('presses', { scope: 'plugin', value: t.integer() });
    const pressed = p.action('pressed', { data: { token: t.string() } }, async (ctx, { token }) => {
      const times = ((await ctx.get(presses.at(token))) ?? 0) + 1;
      ctx.set(presses.at(token), times);
      ctx.reply(token + 'pressed' + times);
    });
    const bodies = {
      async edited(ctx, text) {
        const message = ctx.reply(text);
        for (const times of ['once', 'twice']) ctx.edit(message, text + ' ' + times);
      },
      split: async (ctx, text, token) => text + ' ' + Array.from({ length: ${WORDS} }, (_, index) => token + 'w' + (index + 1)).join(' '),
      file: async (ctx, text, token) => ({ text, files: [await ctx.saveFile(token + '.txt', 'text/plain', Buffer.from(token))] }),
      button: async (ctx, text, token) => ({ text, buttons: [pressed.button('Press', { token })] }),
      async reacted(ctx, text) {
        ctx.react(ctx.reply(text), '${REACTION}');
      },
    };
    const say = async (ctx, { token, extra }) => {
      const text = await answer(ctx, token);
      return bodies[extra]?.(ctx, text, token) ?? text;
    };
    p.on('message', {}, async (ctx, message) => {
      const [file] = message.files;
      const line = file === undefined ? message.text : Buffer.from(await ctx.readFile(file)).toString();
      const { groups } = /hello (?<token>T[0-9a-z]+X)(?: as (?<extra>[a-z]+))?/.exec(line) ?? {};
      return groups === undefined ? undefined : say(ctx, groups);
    });
    p.command('count', { summary: 'Counts', args: { token: t.string(), extra: t.optional(t.string()) } }, (ctx, given) => say(ctx, given));
  },
});
`;

export function configOf(
  platforms: readonly OpenPlatform[],
  { port, forgetful }: { readonly port: number; readonly forgetful: boolean },
): Readonly<Record<string, unknown>> {
  const slots: Record<string, { readonly endpoints: unknown[] } | Record<string, never>> = {};
  for (const { slot, account } of platforms) {
    const known = slots[slot];
    if (account === undefined) slots[slot] = {};
    else if (known?.endpoints === undefined) slots[slot] = { endpoints: [account] };
    else known.endpoints.push(account);
  }
  return {
    log_level: 'warn',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a reference of the configuration
    http: { port, token: '${HTTP_TOKEN}', publicUrl: PUBLIC_URL },
    // Each kill costs what was under way an attempt: the bound is not what is tested here. What was in hand twice waits, and is done.
    inbox: { maxAttempts: 100, quarantineSeconds: 1 },
    outbox: { maxAttempts: 100 },
    disk: { minFreeBytes: 0 },
    plugins: { ...slots, counting: { use: './plugins/counting.mjs', forgetful } },
  };
}
