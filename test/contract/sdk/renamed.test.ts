// A handler that gets another name between two attempts of an item: what it has called is its own still.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Ctx, definePlugin, type PluginModule } from 'svc';
import { testBot } from 'svc/testing';

/** `/go` calls the outside, in the command and in a task of it, and fails in that call or after it. */
const caller = (calls: string[], { name, fails }: { name: 'old' | 'new'; fails?: 'in' | 'after' }): PluginModule =>
  definePlugin({
    name: 'x',
    setup(p) {
      const spec = { formerly: name === 'new' ? ['old'] : [] };
      const charge = async (ctx: Ctx): Promise<number> => {
        const n = await ctx.once('charge', ({ key }) => {
          calls.push(key);
          if (fails === 'in') throw new Error('no answer');
          return calls.length;
        });
        if (fails === 'after') throw new Error('not yet');
        return n;
      };
      const task = p.task(name, { ...spec, data: {} }, async (ctx) => {
        ctx.send({ endpoint: 'fake', id: 'room' }, `task ${await charge(ctx)}`);
      });
      p.command(name, { ...spec, summary: '', aliases: ['go'] }, async (ctx) => {
        ctx.schedule(task, {});
        return `command ${await charge(ctx)}`;
      });
      p.command('start', { summary: '' }, (ctx) => ctx.schedule(task, {}));
    },
  });

/** What was called, by key, where the name changes after an attempt that fails so. */
async function renamedAfter(fails: 'in' | 'after') {
  const calls: string[] = [];
  const bot = await testBot(caller(calls, { name: 'old', fails }));
  await bot.person('ann').says('/start');
  await bot.person('bob').says('/go');
  await bot.restart(caller(calls, { name: 'new' }));
  await bot.clock.advance('1m');
  const shown = [bot.shown('room')[0], ...bot.shown('dm-bob')];
  await bot.stop();
  return { calls, shown };
}

describe('a handler with another name', () => {
  it('does not call again what it has called under the old one', async () => {
    const { calls, shown } = await renamedAfter('after');

    assert.deepEqual(shown, ['task 1', 'command 2']);
    assert.equal(calls.length, 3, 'the third is that of the task of the command');
  });

  it('calls again under the same key', async () => {
    const { calls } = await renamedAfter('in');

    assert.deepEqual(calls.slice(2, 4).toSorted(), calls.slice(0, 2).toSorted());
  });
});
