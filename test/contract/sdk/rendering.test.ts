// An adapter that fails to write a text for its platform: code of somebody else, as a handler is.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { definePlugin, type Rich } from 'svc';
import { testBot } from 'svc/testing';

describe('a text that its adapter cannot write', () => {
  for (const [what, fails] of [
    ['one text', ({ segments }: Rich) => segments.some((one) => 'text' in one && one.text === 'bad')],
    ['any text', () => true],
  ] as const)
    it(`ends its item after the attempts of a failure, and the conversation goes on: ${what}`, async () => {
      const render = (rich: Rich): string => {
        if (fails(rich)) throw new Error('no such mark');
        return rich.segments.map((one) => ('text' in one ? one.text : '')).join('');
      };
      const handled: string[] = [];
      const plugin = definePlugin({
        name: 'x',
        setup(p) {
          p.command('bad', { summary: '' }, (ctx) => {
            handled.push(`bad ${ctx.item.attempt}`);
            return 'bad';
          });
          p.command('next', { summary: '' }, () => void handled.push('next'));
        },
      });
      const bot = await testBot(plugin, { can: { text: { limit: 100, unit: 'utf16', render } } });

      await bot.person('ann').says('/bad');
      await bot.person('ann').says('/next');
      await bot.clock.advance('10m');

      assert.deepEqual(handled, ['bad 1', 'bad 2', 'bad 3', 'bad 4', 'bad 5', 'next']);
      assert.equal(bot.dead().length, 1);
      const logs = bot.logs as { readonly message?: string; readonly err?: Error }[];
      const failed = logs.filter(({ message }) => message === 'handler failed');
      assert.equal(failed.length, 5);
      assert.match(String(failed[0]?.err), /what it says cannot be written for its platform: no such mark/);
      assert.equal(bot.shown('dm-ann').length, what === 'one text' ? 1 : 0);
      await bot.stop();
    });
});
