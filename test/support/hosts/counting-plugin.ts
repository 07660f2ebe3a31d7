// A plugin whose answers tell one account's stored state from another's.

/** Says how many of its conversation the bot has seen: what one account stores, no other one reads. */
export const COUNTING = `
import { definePlugin, t } from 'svc';
export default definePlugin({ name: 'counting', setup(p) {
  const count = p.state('count', { scope: 'conversation', value: t.integer() });
  p.on('message', {}, async (ctx, { text }) => {
    const number = 1 + ((await ctx.get(count)) ?? 0);
    ctx.set(count, number);
    return text + ' is ' + number;
  });
} });
`;
