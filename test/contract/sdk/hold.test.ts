// What is never done twice: a call or a send whose end nobody knows is left to a person.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { definePlugin, retryLater } from 'svc';
import type { MemoryBot } from '../../../worker/testing/memory-bot.ts';
import { startBot } from '../../../worker/testing/start-bot.ts';
import type { TestBotOptions } from '../../../worker/testing/test-bot.ts';

type SetupOf = Parameters<typeof definePlugin>[0]['setup'];
const start = (setup: SetupOf, options?: TestBotOptions): Promise<MemoryBot> =>
  startBot(definePlugin({ name: 'x', setup }), options);
const errorsOf = (bot: MemoryBot): string =>
  bot.disk
    .rows<{ error: string | null }>('SELECT error FROM handler_runs')
    .map(({ error }) => error)
    .join('\n');

describe('unsure: hold', () => {
  const pay = (calls: { n: number }) => (): Promise<MemoryBot> =>
    start(
      (p) => {
        p.command('pay', { summary: '' }, async (ctx) => {
          await ctx.once('pay', () => void (calls.n += 1), { unsure: 'hold' });
          return 'paid';
        });
        p.command('post', { summary: '' }, () => ({ text: 'posted', unsure: 'hold' }));
      },
      { can: { idempotent: false } },
    );

  it('never calls twice and leaves it to a person', async () => {
    const calls = { n: 0 };
    const bot = await pay(calls)();
    bot.crashAfter('called:pay');

    await bot.person('ann').says('/pay');

    assert.equal(calls.n, 1);
    assert.equal(bot.dead().length, 1);
    assert.match(errorsOf(bot), /pay: an earlier attempt died between call and result/);
  });

  it('calls again what threw only where that says that nothing was taken', async () => {
    const calls: string[] = [];
    const bot = await start((p) => {
      for (const name of ['lost', 'busy'] as const)
        p.command(name, { summary: '' }, async (ctx) => {
          const call = (): string => {
            calls.push(name);
            if (calls.length > 2) return 'paid';
            throw name === 'busy' ? retryLater('busy') : new Error('ECONNRESET');
          };
          return ctx.once('pay', call, { unsure: 'hold' });
        });
    });

    await bot.person('ann').says('/lost');
    await bot.person('bob').says('/busy');
    await bot.clock.advance('10m');

    assert.deepEqual(calls, ['lost', 'busy', 'busy']);
    assert.deepEqual([bot.dead().length, bot.shown('dm-bob')], [1, ['paid']]);
    assert.match(errorsOf(bot), /pay: it failed, and whether the outside took it is not known: ECONNRESET/);
  });

  it('never sends twice and leaves it to a person', async () => {
    const bot = await pay({ n: 0 })();
    bot.crashAfter('posted');

    await bot.person('bob').says('/post');

    assert.deepEqual(bot.shown('dm-bob'), ['posted']);
    assert.deepEqual(bot.disk.rows('SELECT state FROM outbox'), [{ state: 'unknown' }]);
  });
});
