// State that many depend on at once: every handler's change is there in the end, and none is a dead letter because others were quicker.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { definePlugin, t } from '../../../worker/sdk/index.ts';
import { type EngineHost, engineHost } from '../../support/engine-host.ts';

const cells = (host: EngineHost): unknown[] =>
  host.rows<{ value: string }>('SELECT value FROM cells').map(({ value }) => JSON.parse(value) as unknown);

/** Until the test lets it go, the first `slow` stays between what it reads and what it decides. */
function cart() {
  let go = (): void => {};
  const held = new Promise<void>((resolve) => {
    go = resolve;
  });
  let isFirst = true;
  const plugin = definePlugin({
    name: 'cart',
    setup(p) {
      const content = p.state('content', { scope: 'plugin', value: t.string() });
      p.on('message', {}, async (ctx, { text }) => {
        const [verb, what = ''] = text.split(' ');
        if (verb === 'put') return ctx.set(content, what, 'any');
        if (verb === 'clear') return ctx.unset(content);
        const seen = await ctx.get(content);
        if (isFirst) {
          isFirst = false;
          await held;
        }
        if (seen === undefined) ctx.unset(content);
        else ctx.set(content, `${seen}+${what}`);
      });
    },
  });
  return { plugin, go };
}

describe('state that moves', () => {
  it('is counted by 200 at once, each in its first attempt', async (context) => {
    const attempts = new Set<number>();
    const counter = definePlugin({
      name: 'counter',
      setup(p) {
        const count = p.state('count', { scope: 'plugin', value: t.integer() });
        p.on('message', {}, async (ctx) => {
          attempts.add(ctx.item.attempt);
          ctx.set(count, ((await ctx.get(count)) ?? 0) + 1);
        });
      },
    });
    const host = await engineHost(context, { modules: { counter } });

    await Promise.all(Array.from({ length: 200 }, (_, person) => host.platform.says('x', { from: `p${person}` })));
    await host.quiet();

    assert.deepEqual(cells(host), [200]);
    assert.deepEqual([...attempts], [1]);
    assert.deepEqual(new Set(host.states('inbox')), new Set(['done']));
  });

  it('has moved where it was removed and written again meanwhile', async (context) => {
    const { plugin, go } = cart();
    const host = await engineHost(context, { modules: { cart: plugin } });
    await host.platform.says('put apples');
    await host.quiet();

    await host.platform.says('add plums', { from: 'bob' });
    await host.quiet();
    for (const text of ['clear', 'put pears']) await host.platform.says(text);
    await host.quiet();
    go();
    await host.quiet();

    assert.deepEqual(cells(host), ['pears+plums']);
  });

  it('has moved where it was absent and is there by now: what somebody wrote is not removed unseen', async (context) => {
    const { plugin, go } = cart();
    const host = await engineHost(context, { modules: { cart: plugin } });

    await host.platform.says('add plums', { from: 'bob' });
    await host.quiet();
    await host.platform.says('put pears');
    await host.quiet();
    go();
    await host.quiet();

    assert.deepEqual(cells(host), ['pears+plums']);
  });
});
