// Accounts that fail, heal, obey an operator, and ask again for what they missed.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { PlatformSocket } from '../../../../worker/sdk/index.ts';
import { MemoryPlatform } from '../../../support/accounts/memory-platform.ts';
import { type EngineHost, engineHost } from '../../../support/hosts/engine-host.ts';

const A = 'root/memory:memory~a';
const B = 'root/memory:memory~b';

describe('accounts', () => {
  const two = { config: { plugins: { memory: { endpoints: [{ id: 'a' }, { id: 'b' }] } } } };

  it('that fail hold back neither the start nor another, and heal by themselves', async (context) => {
    const platform = new MemoryPlatform();
    platform.down.set(A, new Error('refused'));
    const host = await engineHost(context, { ...two, platform });
    const before = ['a', 'b'].map((id) => host.engine.endpoints.get(`root/memory:memory~${id}`)?.state.state);
    await host.advance(30_000);
    const failures = host.engine.endpoints.get(A)?.state.failures ?? 0;

    platform.down.delete(A);
    await host.advance(60_000);

    assert.deepEqual(before, ['offline', 'online']);
    assert.ok(failures > 3 && failures < 10, `${failures}`);
    assert.equal(host.engine.endpoints.get(A)?.state.state, 'online');
    assert.equal(host.engine.endpoints.get(A)?.state.lastError?.reason, 'refused');
  });

  it('that are away for hours are tried without end, and are back within a minute of their platform', async (context) => {
    const platform = new MemoryPlatform();
    const host = await engineHost(context, { platform });
    const state = () => host.engine.endpoints.get(A)?.state;
    const before = state()?.state;

    // A machine that slept for hours finds its connections dead.
    platform.down.set(A, new Error('refused'));
    platform.breaks.get(A)?.(new Error('the connection was lost'));
    await host.advance(3 * 3_600_000);
    const away = state();
    platform.down.delete(A);
    await host.advance(60_000);

    assert.deepEqual([before, state()?.state], ['online', 'online']);
    assert.ok((away?.reconnects ?? 0) >= 3 * 60, `${away?.reconnects} tries`);
    assert.deepEqual([state()?.lastError?.reason, (state()?.reconnects ?? 0) > 0], ['refused', true]);
  });

  it('whose cursor is none are told so, and what they hand in with it is not stored', async (context) => {
    const host = await engineHost(context);
    const link = host.platform.links.get(A);
    const arrival = {
      id: 'd1',
      kind: 'message',
      message: 'm1',
      text: 'hello',
      sentAt: 0,
      conversation: { id: 'dm-ann', kind: 'private' },
      user: { id: 'ann', name: 'ann', admin: false },
    } as const;

    for (const cursor of [Promise.resolve('c1'), 5])
      await assert.rejects(async () => link?.receive([arrival], cursor as never), {
        code: 'plugin_failed',
        message: 'adapter memory: the cursor of what it hands in has to be a text',
      });
    assert.deepEqual([link?.cursor, host.states('inbox')], [undefined, []]);

    await link?.receive([arrival], 'c1');
    assert.deepEqual(
      [link?.cursor, host.rows('SELECT cursor FROM endpoints WHERE endpoint = ?', A)],
      ['c1', [{ cursor: 'c1' }]],
    );
  });

  it('obey an operator over restarts and reloads', async (context) => {
    const { createEndpointControl } = await import('../../../../worker/endpoints/endpoint-control.ts');
    const caller = { actor: 'op', scope: 'full' } as never;
    const host = await engineHost(context, two);
    const act = (of: EngineHost, action: 'enable' | 'disable' | 'reconnect') =>
      createEndpointControl(of.core, of.engine.endpoints).act(A, action, { caller, revision: undefined });

    await act(host, 'disable');
    await host.engine.runtime.reload('test');
    const next = await host.restart(context);
    const disabled = next.engine.endpoints.get(A)?.state.state;
    await assert.rejects(act(next, 'reconnect'), { code: 'conflict' });
    await act(next, 'enable');
    await next.quiet();
    await act(next, 'reconnect');
    await next.quiet();

    assert.equal(disabled, 'disabled');
    assert.equal(next.engine.endpoints.get(A)?.state.state, 'online');
    assert.equal(next.platform.connects.get(A), 3);
    assert.deepEqual([...next.events('endpoint.disabled'), ...next.events('endpoint.enabled')].length, 2);
  });

  it('are left alone where the configuration says so, and connected by a reload once it does not', async (context) => {
    const off = { plugins: { memory: { endpoints: [{ id: 'a', enabled: false }, { id: 'b' }] } } };
    const host = await engineHost(context, { config: off });
    const before = [A, B].map((id) => [host.engine.endpoints.get(id)?.state.state, host.platform.connects.get(id)]);

    host.configure({ plugins: { memory: { endpoints: [{ id: 'a' }, { id: 'b', enabled: false }] } } });
    await host.engine.runtime.reload('test');
    await host.quiet();
    const after = [A, B].map((id) => host.engine.endpoints.get(id)?.state.state);

    assert.deepEqual(before, [
      ['disabled', undefined],
      ['online', 1],
    ]);
    assert.deepEqual(after, ['online', 'disabled']);
    assert.deepEqual([...host.platform.links.keys()], [A]);
  });

  it('ask again for what they could not fetch, while the connection stands', async (context) => {
    const platform = new MemoryPlatform();
    let failures = 1;
    platform.catchUp = async () => {
      if (failures-- > 0) throw new Error('busy');
    };
    const host = await engineHost(context, { platform });
    const before = host.engine.endpoints.get(A)?.state.state;

    await host.advance(31_000);

    assert.deepEqual([before, host.engine.endpoints.get(A)?.state.state], ['degraded', 'online']);
    assert.equal(platform.connects.get(A), 1);
  });
});

describe('accounts that a platform connects to', () => {
  const socket = (closed: number[] = []): PlatformSocket => ({
    request: { method: 'GET', path: '/', query: {}, headers: {}, body: Buffer.alloc(0), receivedAt: 0 },
    ended: new Promise(() => {}),
    onMessage: () => {},
    send: () => {},
    pause: () => {},
    resume: () => {},
    close: (code = 1000) => void closed.push(code),
  });

  it('connect at once when it comes after a first failure, and wait for their turn after more', async (context) => {
    const platform = new MemoryPlatform();
    platform.down.set(A, new Error('refused'));
    const host = await engineHost(context, { platform });
    const runner = host.engine.endpoints.require(A);
    assert.equal(runner.state.failures, 1);

    runner.accept(socket());
    await host.quiet();
    const afterOne = [runner.state.failures, runner.state.state];
    platform.down.delete(A);
    runner.accept(socket());
    await host.quiet();
    const waits = runner.state.state;
    await host.advance(5_000);

    assert.deepEqual([afterOne, waits, runner.state.state], [[2, 'offline'], 'offline', 'online']);
  });

  it('hand what came to their connection, which closes it at its end; one that is disabled takes nothing', async (context) => {
    const { createEndpointControl } = await import('../../../../worker/endpoints/endpoint-control.ts');
    const platform = new MemoryPlatform();
    const host = await engineHost(context, { platform });
    const runner = host.engine.endpoints.require(A);
    const [taken, closed]: [PlatformSocket[], number[]] = [[], []];

    runner.accept(socket(closed));
    platform.links.get(A)?.accept((one) => taken.push(one));
    runner.accept(socket(closed));
    const control = createEndpointControl(host.core, host.engine.endpoints);
    await assert.rejects(control.show('fake~z', true), {
      message: 'there is no endpoint of this name',
      hint: 'known are memory~a',
    });
    await control.act(A, 'disable', { caller: { actor: 'op', scope: 'full' } as never, revision: undefined });
    await host.quiet();
    runner.accept(socket(closed));
    assert.deepEqual([taken.length, closed], [2, [1012, 1012]]);

    await control.act(A, 'enable', { caller: { actor: 'op', scope: 'full' } as never, revision: undefined });
    await control.act(A, 'disable', { caller: { actor: 'op', scope: 'full' } as never, revision: undefined });
    await host.quiet();
    assert.deepEqual(closed, [1012, 1012, 1012], 'nobody came for the one that waited');
  });

  it('are degraded for as long as anything is said against them', async (context) => {
    const platform = new MemoryPlatform();
    let failures = 1;
    platform.catchUp = async () => {
      if (failures-- > 0) throw new Error('busy');
    };
    const host = await engineHost(context, { platform });
    const { state: before } = host.engine.endpoints.require(A);
    const link = platform.links.get(A);
    const stateNow = (): string => host.engine.endpoints.require(A).state.state;

    link?.online();
    const behind = stateNow();
    link?.degraded('not well');
    await host.advance(31_000);
    const troubled = stateNow();
    link?.online();
    const well = stateNow();
    link?.degraded('not well again');

    assert.deepEqual(
      [before.state, behind, troubled, well, stateNow()],
      ['degraded', 'degraded', 'degraded', 'online', 'degraded'],
    );
    assert.deepEqual(host.engine.endpoints.require(A).state.lastError?.code, 'account_degraded');
    assert.equal(host.engine.endpoints.require(A).takesSends, true);
  });
});
