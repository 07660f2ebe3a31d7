// The accounts as `runtime status` tells them.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { accountsOf } from '../../worker/host/operator-api.ts';
import { engineHost } from '../support/hosts/engine-host.ts';

describe('the accounts of a status', () => {
  it('are offline since the connection was lost, however often it was tried since', async (t) => {
    const host = await engineHost(t, {});
    host.platform.down.set('root/memory:memory~a', new Error('refused'));
    const lostAt = host.clock.now();
    host.engine.endpoints.all()[0]?.reconnect();
    await host.quiet();
    await host.advance(12 * 60_000);
    const offline = accountsOf(host.engine.endpoints.all());
    host.platform.down.clear();
    await host.advance(2 * 60_000);
    const online = accountsOf(host.engine.endpoints.all());

    assert.deepEqual([offline.total, offline.online], [1, 0]);
    assert.deepEqual(offline.others, [{ name: 'memory~a', state: 'offline', since: new Date(lostAt).toISOString() }]);
    assert.deepEqual(online, { total: 1, online: 1, others: [] });
  });

  it('are those that are enabled; a few that are not online are named, the longest first', () => {
    const account = (name: string, state: string, since: number) =>
      ({ spec: { name }, state: { state, since } }) as never;
    const offline = Array.from({ length: 6 }, (_, n) => account(`irc~${n}`, 'offline', 6_000 - n));

    const told = accountsOf([
      account('telegram', 'online', 1),
      account('line', 'disabled', 1),
      account('slack', 'degraded', 9_000),
      ...offline,
    ]);

    assert.deepEqual([told.total, told.online], [8, 1]);
    assert.deepEqual(
      told.others.map(({ name }) => name),
      ['irc~5', 'irc~4', 'irc~3', 'irc~2', 'irc~1'],
    );
    assert.equal(told.others[0]?.since, '1970-01-01T00:00:05.995Z');
  });
});
