// Waiting tasks as a handler sees them, and what becomes of a cancel when the task was faster.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { definePlugin, t } from 'svc';
import { startBot } from '../../../worker/testing/start-bot.ts';

describe('waiting tasks', () => {
  it('are listed by their keys, the next one first, with what the handler itself has decided', async () => {
    const bot = await startBot(
      definePlugin({
        name: 'x',
        setup(p) {
          const fire = p.task('fire', { data: { n: t.integer() } }, () => {});
          const other = p.task('other', { data: {} }, () => {});
          p.command('put', { summary: '' }, (ctx) => {
            ctx.schedule(fire, { n: 1 }, { afterMs: 60_000, key: 'a/1' });
            ctx.schedule(fire, { n: 2 }, { afterMs: 30_000, key: 'a/2' });
            ctx.schedule(fire, { n: 3 }, { afterMs: 10_000, key: 'b/3' });
            ctx.schedule(fire, { n: 4 }, { afterMs: 5_000 });
            ctx.schedule(other, {}, { afterMs: 5_000, key: 'a/9' });
          });
          p.command('see', { summary: '' }, async (ctx) => {
            const shown = async (page: Parameters<typeof ctx.scheduled>[1]) =>
              (await ctx.scheduled(fire, page)).map(({ key, data }) => `${key}=${data.n}`).join(' ');
            const before = await shown({ prefix: 'a/' });
            ctx.cancel(fire, 'a/2');
            ctx.schedule(fire, { n: 5 }, { afterMs: 1_000, key: 'a/5' });
            return [before, await shown({ prefix: 'a/' }), await shown({ limit: 1 }), await shown({})].join('; ');
          });
        },
      }),
    );

    await bot.person('ann').says('/put');
    await bot.person('ann').says('/see');

    assert.deepEqual(bot.shown('dm-ann'), ['a/2=2 a/1=1; a/5=5 a/1=1; a/5=5; a/5=5 b/3=3 a/1=1']);
    assert.deepEqual(bot.dead(), []);
  });

  it('cannot be cancelled once they are due: the handler runs again and finds them gone', async () => {
    let beforeCommit: (() => Promise<void>) | undefined;
    let runs = 0;
    const bot = await startBot(
      definePlugin({
        name: 'x',
        setup(p) {
          const fire = p.task('fire', { data: { to: t.conversation() } }, (ctx, { to }) => void ctx.send(to, 'due'));
          p.command('put', { summary: '' }, (ctx) => {
            ctx.schedule(fire, { to: ctx.conversation }, { afterMs: 20_000, key: 'k' });
          });
          p.command('stop', { summary: '' }, async (ctx) => {
            runs += 1;
            const [first] = await ctx.scheduled(fire);
            if (first !== undefined) ctx.cancel(fire, first.key);
            await beforeCommit?.();
            return first === undefined ? 'too late' : 'cancelled';
          });
        },
      }),
    );
    const ann = bot.person('ann');

    await ann.says('/put');
    await ann.says('/stop');
    await bot.clock.advance('2m');
    await ann.says('/put');
    beforeCommit = async () => {
      beforeCommit = undefined;
      await bot.clock.advance('20s');
    };
    await ann.says('/stop');

    assert.deepEqual(bot.shown('dm-ann').toSorted(), ['cancelled', 'due', 'too late']);
    assert.equal(runs, 3);
  });
});
