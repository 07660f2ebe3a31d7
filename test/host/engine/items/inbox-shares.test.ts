// Whom the inbox keeps a part for: accounts that are enabled, and webhooks of plugins.
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { type Arrival, definePlugin, t } from '../../../../worker/sdk/index.ts';
import { type EngineHost, engineHost } from '../../../support/hosts/engine-host.ts';

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

const arrivalOf = (id: string): Arrival => ({
  id,
  conversation: { id, kind: 'group' },
  user: { id: 'ann', name: 'ann', admin: false },
  sentAt: 0,
  kind: 'message',
  message: id,
  text: 'hi',
});

describe('repeats while the inbox is full', () => {
  it('are told that they are known, and what is new beside them has to wait for room (INBOX-2)', async (context) => {
    const counted: boolean[] = [];
    const full = await engineHost(context, {
      modules: { hangs },
      config: { inbox: { maxPending: 2 } },
      engine: { observer: { duplicate: (_endpoint, conflict) => counted.push(conflict) } },
    });
    await full.platform.says('2', { room: '2' });
    await full.platform.says('1', { room: '1', id: 'one' });

    await full.platform.says('1', { room: '1', id: 'one' });
    await full.platform.says('another', { room: '1', id: 'one' });
    await assert.rejects(full.platform.says('3', { room: '3' }), { code: 'inbox_full' });

    assert.deepEqual(counted, [false, true]);
    assert.deepEqual([full.states('inbox').length, full.engine.inbox.pending.items], [2, 2]);
  });

  it('are left out of what comes with them: the rest is taken where it fits', async (context) => {
    const full = await engineHost(context, { modules: { hangs }, config: { inbox: { maxPending: 3 } } });
    const link = full.platform.links.get('root/memory:memory~a');
    const page = ['one', 'two', 'three', 'four'].map(arrivalOf);
    await link?.receive(page.slice(0, 2));

    await link?.receive(page.slice(0, 3));
    await assert.rejects(async () => link?.receive(page), { code: 'inbox_full' });

    assert.equal(full.states('inbox').length, 3);
  });
});
