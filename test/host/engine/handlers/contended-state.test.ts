// State that many depend on at once: every handler's change is there in the end, and none is a dead letter because others were quicker.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { definePlugin, t } from '../../../../worker/sdk/index.ts';
import { type EngineHost, engineHost } from '../../../support/hosts/engine-host.ts';

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

describe('state that was listed', () => {
  /** Until the test lets it go, the first of `tidy`, `raise` and `recount` stays between what it lists and what it decides. */
  function stock() {
    let go = (): void => {};
    const held = new Promise<void>((resolve) => {
      go = resolve;
    });
    let isFirst = true;
    const plugin = definePlugin({
      name: 'stock',
      setup(p) {
        const counts = p.state('counts', { scope: 'plugin', value: t.integer() });
        p.on('message', { attempts: 1 }, async (ctx, { text }) => {
          const [verb, count] = text.split(' ');
          if (verb === 'put') return ctx.set(counts.at('tea'), Number(count), 'any');
          const listed = await ctx.list(counts);
          if (isFirst) {
            isFirst = false;
            await held;
          }
          for (const [key, value] of listed) {
            if (verb === 'recount') await ctx.get(counts.at(key));
            if (verb !== 'tidy') ctx.set(counts.at(key), value + 1);
            else if (value === 0) ctx.unset(counts.at(key));
          }
        });
      },
    });
    return { plugin, go };
  }

  for (const [verb, left, what] of [
    ['tidy', 7, 'removed'],
    ['raise', 8, 'written'],
    ['recount', 8, 'written, also where its handler has looked twice'],
  ] as const)
    it(`and has moved since is seen again before it is ${what}`, async (context) => {
      const { plugin, go } = stock();
      const host = await engineHost(context, { modules: { stock: plugin } });
      await host.platform.says('put 0');
      await host.quiet();

      await host.platform.says(verb, { from: 'bob' });
      await host.quiet();
      await host.platform.says('put 7');
      await host.quiet();
      go();
      await host.quiet();

      assert.deepEqual(cells(host), [left]);
      assert.deepEqual(new Set(host.states('inbox')), new Set(['done']));
    });
});

describe('a cell that is there, set as absent', () => {
  const claims = (onError: (error: unknown) => string) =>
    definePlugin({
      name: 'claims',
      setup(p) {
        const owner = p.state('owner', { scope: 'plugin', value: t.string() });
        p.on('message', { attempts: 2 }, async (ctx, { text }) => {
          const [verb = '', key = ''] = text.split(' ');
          if (verb === 'look') await ctx.get(owner.at(key));
          try {
            ctx.set(owner.at(key), ctx.user.id, verb === 'at' ? 7 : 'absent');
          } catch (error) {
            return onError(error);
          }
          return 'yours';
        });
      },
    });

  it('is an error that the handler can catch, read before or not', async (context) => {
    const host = await engineHost(context, {
      modules: { claims: claims((error) => String((error as { code: unknown }).code)) },
    });
    for (const text of ['claim a', 'claim a', 'look a', 'claim b', 'at b', 'at c']) {
      await host.platform.says(text);
      await host.quiet();
    }

    assert.deepEqual(host.platform.said('dm-ann'), ['yours', 'cell_is', 'cell_is', 'yours', 'cell_is', 'cell_is']);
    assert.deepEqual(cells(host), ['ann', 'ann']);
  });

  it('names the cell and the key in the dead letter', async (context) => {
    const host = await engineHost(context, {
      modules: {
        claims: claims((error) => {
          throw error;
        }),
      },
    });
    for (const text of ['claim a', 'claim a']) await host.platform.says(text);
    await host.advance(600_000);

    const [, dead] = host.rows<{ state: string; last_error: string }>('SELECT state, last_error FROM inbox');
    assert.equal(dead?.state, 'dead');
    assert.match(dead?.last_error ?? '', /claims\/owner.*key "a".*is there already/);
  });
});
