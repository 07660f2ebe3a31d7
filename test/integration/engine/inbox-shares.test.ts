// Whom the inbox keeps a part for: accounts that are enabled, and webhooks of plugins.
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { definePlugin, t } from '../../../worker/sdk/index.ts';
import { type EngineHost, engineHost } from '../../support/engine-host.ts';

const never = new Promise<void>(() => {});
const hangs = definePlugin({ name: 'hangs', setup: (p) => p.on('message', {}, () => never) });

const host = (
  context: TestContext,
  endpoints: readonly object[],
  modules: Readonly<Record<string, unknown>> = {},
): Promise<EngineHost> =>
  engineHost(context, {
    modules: { hangs, ...modules },
    config: { inbox: { maxPending: 10 }, plugins: { memory: { endpoints } } },
  });

/** How many messages of the account `a` are taken; those of others then. */
async function flood(on: EngineHost): Promise<number> {
  for (let count = 0; ; count += 1) {
    const said = await on.platform.says('x', { room: `r${count}` }).catch((error: unknown) => error);
    if (said === undefined) continue;
    assert.equal((said as { code?: unknown }).code, 'inbox_full');
    return count;
  }
}

describe('parts of the inbox', () => {
  it('are for accounts that are enabled: one that is not keeps nothing from the others', async (context) => {
    const both = await host(context, [{ id: 'a' }, { id: 'b' }]);
    const one = await host(context, [{ id: 'a' }, { id: 'b', enabled: false }]);

    assert.deepEqual([await flood(both), await flood(one)], [9, 10]);
    await both.platform.says('y', { endpoint: 'root/memory:memory~b' });
  });

  it('are the same over a restart with items that are open', async (context) => {
    const before = await host(context, [{ id: 'a' }, { id: 'b' }]);
    await flood(before);
    before.kill();
    const after = await before.restart(context);

    assert.equal(await flood(after), 0);
    await after.platform.says('y', { endpoint: 'root/memory:memory~b' });
  });

  it('are for webhooks of plugins, too', async (context) => {
    const hook = definePlugin({
      name: 'hook',
      setup(p) {
        p.webhook(
          'orders',
          { verify: () => ({ kind: 'ok' }), delivery: () => undefined, body: t.object({}) },
          () => never,
        );
      },
    });
    const on = await host(context, [{ id: 'a' }], { hook });

    assert.equal(await flood(on), 9);
  });
});
