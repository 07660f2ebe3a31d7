// A reaction that a platform lacks: nothing is sent, and that is counted.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { definePlugin, t } from '../../../../worker/sdk/index.ts';
import { MemoryPlatform } from '../../../support/accounts/memory-platform.ts';
import { type EngineHost, engineHost } from '../../../support/hosts/engine-host.ts';

const A = 'root/memory:memory~a';

describe('a reaction where the platform has none', () => {
  it('is counted with the commit, for its account, and is no send', async (context) => {
    const dropped: string[] = [];
    let runs = 0;
    const likes = definePlugin({
      name: 'likes',
      setup(p) {
        const seen = p.state('seen', { scope: 'plugin', value: t.integer() });
        p.on('message', {}, async (ctx, { ref }) => {
          runs += 1;
          const before = (await ctx.get(seen)) ?? 0;
          if (runs === 1) await meanwhile();
          ctx.set(seen, before + 1);
          ctx.react(ref, '👍');
          ctx.reply(`seen ${before + 1}`);
        });
      },
    });
    const host: EngineHost = await engineHost(context, {
      modules: { likes },
      engine: { observer: { reactionDropped: (endpoint) => dropped.push(endpoint) } },
    });
    /** Bob's message moves the state that ann's handler has read: hers runs again. */
    const meanwhile = async (): Promise<void> => {
      await host.platform.says('y', { from: 'bob' });
      await host.quiet();
    };

    await host.platform.says('x');
    await host.until('both are answered', () => host.states('outbox').join() === 'sent,sent');

    assert.deepEqual([host.platform.said('dm-bob'), host.platform.said('dm-ann'), runs], [['seen 1'], ['seen 2'], 3]);
    assert.deepEqual(dropped, [A, A]);
    assert.deepEqual(
      host.events('inbox.done').map(({ data }) => data['sends']),
      [1, 1],
    );
  });

  it('is counted under no name that a plugin made up', async (context) => {
    const dropped: string[] = [];
    const likes = definePlugin({
      name: 'likes',
      setup(p) {
        p.on('message', {}, (ctx, { text }) => {
          for (const endpoint of ['memory~a', text]) ctx.react({ endpoint, conversation: 'room', id: 'm1' }, '👍');
        });
      },
    });
    const host = await engineHost(context, {
      modules: { likes },
      engine: { observer: { reactionDropped: (endpoint) => dropped.push(endpoint) } },
    });

    await host.platform.says('made-up');
    await host.quiet();

    assert.deepEqual(dropped, [A, 'unknown']);
  });

  it('is not counted where the platform has them', async (context) => {
    const dropped: string[] = [];
    const likes = definePlugin({
      name: 'likes',
      setup: (p) => p.on('message', {}, (ctx, { ref }) => ctx.react(ref, '👍')),
    });
    const host = await engineHost(context, {
      modules: { likes },
      platform: new MemoryPlatform({ react: true }),
      engine: { observer: { reactionDropped: (endpoint) => dropped.push(endpoint) } },
    });

    await host.platform.says('x');
    await host.quiet();

    assert.deepEqual(
      host.platform.calls.map(({ call }) => call.kind),
      ['react'],
    );
    assert.deepEqual(dropped, []);
    assert.deepEqual(
      host.events('inbox.done').map(({ data }) => data['sends']),
      [1],
    );
  });
});
