// Gauges and counters of plugins, as a test sees them.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { definePlugin, type PluginModule } from 'svc';
import { testBot } from 'svc/testing';

type SetupOf = Parameters<typeof definePlugin>[0]['setup'];
const one = (setup: SetupOf): PluginModule => definePlugin({ name: 'my-poll', setup });

describe('metrics of a plugin', () => {
  it('are counted with what the handler decided, once, also over a kill, and gauged when they are asked for', async () => {
    let size = 2;
    const bot = await testBot(
      one((p) => {
        const said = p.counter('said', 'Lines');
        const kinds = p.counter('kinds', 'Lines by kind', { kind: ['loud', 'quiet'] });
        p.gauge('queue-size', 'Open polls', () => size);
        p.on('message', {}, (ctx, { text }) => {
          ctx.count(said);
          ctx.count(kinds, { kind: text.endsWith('!') ? 'loud' : 'quiet' });
          if (text === 'fail' && ctx.item.attempt === 1) throw new Error('not yet');
        });
      }),
    );
    const before = await bot.metrics();
    for (const text of ['a', 'b!', 'fail']) await bot.person('ann').says(text);
    await bot.clock.advance('1s');
    size = 7;
    const after = await bot.metrics();
    bot.crashAfter('decided');
    await bot.person('ann').says('c');

    assert.deepEqual(before, { svc_plugin_my_poll_said_total: 0, svc_plugin_my_poll_queue_size: 2 });
    assert.deepEqual(after, {
      svc_plugin_my_poll_said_total: 3,
      'svc_plugin_my_poll_kinds_total{kind="quiet"}': 2,
      'svc_plugin_my_poll_kinds_total{kind="loud"}': 1,
      svc_plugin_my_poll_queue_size: 7,
    });
    assert.equal((await bot.metrics())['svc_plugin_my_poll_said_total'], 1);
  });

  it('are there, each as NaN that fails, gives no number or does not answer, as a host shows them', async () => {
    const bot = await testBot(
      one((p) => {
        p.gauge('silent', 'Never answers', () => new Promise<number>(() => {}));
        p.gauge('broken', 'Throws', () => {
          throw new Error('no database');
        });
        p.gauge('text', 'No number', () => '5' as never);
        p.gauge('size', 'Open polls', () => 2);
      }),
    );

    assert.deepEqual(await bot.metrics(), {
      svc_plugin_my_poll_silent: Number.NaN,
      svc_plugin_my_poll_broken: Number.NaN,
      svc_plugin_my_poll_text: Number.NaN,
      svc_plugin_my_poll_size: 2,
    });
  });

  it('have reactions that the platform lacks beside them, of handlers and of routes', async () => {
    const setup: SetupOf = (p) => {
      const rounds = p.counter('rounds', 'Rounds');
      p.on('message', {}, (ctx, { ref }) => ctx.react(ref, 'ok'));
      p.route('POST /like', { scope: 'full' }, (ctx) => {
        ctx.count(rounds);
        ctx.react({ endpoint: 'fake', conversation: 'room', id: 'm1' }, 'ok');
        return {};
      });
    };
    const [plain, rich] = [await testBot(one(setup), { can: { react: false } }), await testBot(one(setup))];
    for (const bot of [plain, rich]) {
      await bot.person('ann').says('a');
      await bot.call('root/my-poll#route/POST /like');
    }

    assert.deepEqual(await plain.metrics(), {
      svc_plugin_my_poll_rounds_total: 1,
      'svc_reactions_dropped_total{endpoint="root/fake:fake"}': 2,
    });
    assert.deepEqual(await rich.metrics(), { svc_plugin_my_poll_rounds_total: 1 });
  });

  it('are refused where they are defined twice, badly named or without help, and with labels that were not declared', async () => {
    const setups: readonly (readonly [SetupOf, RegExp])[] = [
      [
        (p) => {
          p.gauge('x', 'X', () => 1);
          p.gauge('x', 'X', () => 1);
        },
        /metric x is defined twice/,
      ],
      [(p) => void p.counter('Üx', 'X'), /metric Üx is not a word/],
      [(p) => void p.counter('x', ''), /metric x has no help/],
      [(p) => p.gauge('x', undefined as never, () => 1), /metric x has no help/],
      [(p) => p.gauge('x', 'X', 5 as never), /metric x has no function that reads it/],
      [(p) => void p.counter('x', 'X', { 'a-b': ['c'] }), /metric x has the label a-b: labels are of letters/],
      [(p) => void p.counter('x', 'X', { __a: ['c'] }), /metric x has the label __a/],
      [(p) => void p.counter('x', 'X', { project: ['c'] }), /metric x has the label project, which the host sets/],
      [(p) => void p.counter('x', 'X', { a: 'bc' as never }), /metric x has the label a without a list of its values/],
      [(p) => void p.counter('x', 'X', null as never), /metric x has labels that are not names with their values/],
    ];
    for (const [setup, message] of setups) await assert.rejects(testBot(one(setup)), message);

    const bot = await testBot(
      one((p) => {
        const kinds = p.counter('kinds', 'Kinds', { kind: ['a'] });
        p.on('message', { attempts: 1 }, (ctx, { text }) => ctx.count(kinds, { kind: text as 'a' }));
      }),
    );
    await bot.person('ann').says('a');
    await bot.person('ann').says('b');
    assert.equal(bot.dead().length, 1);
    assert.deepEqual(await bot.metrics(), { 'svc_plugin_my_poll_kinds_total{kind="a"}': 1 });
  });
});
