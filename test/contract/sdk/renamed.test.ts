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

/** What code is installed when the next process starts. */
interface Installed {
  listeners: readonly ('charge' | 'welcome' | 'audit')[];
  formerly: boolean;
}

describe('a handler with another name whose first attempt was killed', () => {
  for (const point of ['called:charge', 'kept:charge', 'decided'])
    it(`goes on as the one that it was, killed at ${point}`, async () => {
      const calls: string[] = [];
      let name: 'old' | 'new' = 'old';
      const bot = await testBot(
        definePlugin({
          name: 'x',
          setup(p) {
            const spec = { summary: '', aliases: ['go'], formerly: name === 'new' ? ['old'] : [] };
            p.command(name, spec, async (ctx) => {
              await ctx.once('charge', ({ key }) => {
                calls.push(key);
                name = 'new'; // whoever starts it again has installed this meanwhile
              });
              return `paid ${name}`;
            });
          },
        }),
      );

      bot.crashAfter(point);
      await bot.person('ann').says('/go');

      assert.deepEqual(bot.shown('dm-ann'), ['paid new']);
      assert.equal(new Set(calls).size, 1, 'the outside is called under one key');
      assert.equal(calls.length, point === 'called:charge' ? 2 : 1);
      await bot.stop();
    });

  it('replaces under its key what was scheduled under the old name', async () => {
    const reminder = (name: string, formerly: readonly string[]): PluginModule =>
      definePlugin({
        name: 'x',
        setup(p) {
          const task = p.task(name, { data: {}, formerly }, (ctx) => {
            ctx.send({ endpoint: 'fake', id: 'room' }, name);
          });
          p.command('later', { summary: '' }, (ctx) => ctx.schedule(task, {}, { afterMs: 60_000, key: 'one' }));
        },
      });
    const bot = await testBot(reminder('old', []));
    await bot.person('ann').says('/later');
    await bot.restart(reminder('new', ['old']));
    await bot.clock.advance('30s');
    await bot.person('ann').says('/later');

    await bot.clock.advance('5m');

    assert.deepEqual(bot.shown('room'), ['new']);
    await bot.stop();
  });
});

describe('listeners that are added or put elsewhere between two attempts', () => {
  /** `welcome` fails until the code changes; what each of them called the outside for is in `calls`. */
  const listening = (calls: string[], { listeners, formerly }: Installed, isFixed: boolean): PluginModule =>
    definePlugin({
      name: 'x',
      setup(p) {
        const of = {
          audit: () => p.on('message', { where: 'private' }, (ctx) => ctx.once('call', () => void calls.push('audit'))),
          charge: () =>
            p.on(
              'message',
              { text: /^go/, name: formerly ? 'paid' : 'charge', formerly: formerly ? ['charge'] : [] },
              (ctx) => ctx.once('call', () => void calls.push('charge')),
            ),
          welcome: () =>
            p.on('message', {}, async (ctx) => {
              await ctx.once('call', () => void calls.push('welcome'));
              if (!isFixed) throw new Error('not yet');
              return 'welcome';
            }),
        };
        for (const name of listeners) of[name]();
      },
    });
  const before = { listeners: ['charge', 'welcome'], formerly: false } as const;
  const changes: readonly (readonly [string, Installed])[] = [
    ['another order', { listeners: ['welcome', 'charge'], formerly: false }],
    ['one more in front', { listeners: ['audit', 'charge', 'welcome'], formerly: false }],
    ['one of them gone', { listeners: ['welcome'], formerly: false }],
    ['another name for one', { listeners: ['charge', 'welcome'], formerly: true }],
  ];
  for (const [what, after] of changes)
    it(`each keep what they have done: ${what}`, async () => {
      const calls: string[] = [];
      const bot = await testBot(listening(calls, before, false));
      await bot.person('ann').says('go');
      await bot.restart(listening(calls, after, true));
      await bot.clock.advance('1m');

      assert.deepEqual(bot.shown('dm-ann'), ['welcome']);
      assert.deepEqual(
        calls.filter((call) => call !== 'audit'),
        ['charge', 'welcome'],
      );
      await bot.stop();
    });
});
