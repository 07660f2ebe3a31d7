// What is told of alerts through an account, over a clock that the test moves.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ACCOUNT, alertsHost } from '../../support/hosts/alerts-host.ts';

const MINUTE = 60_000;

describe('an alert', () => {
  it('is told once when it fires and once when it resolves', async (t) => {
    const made = await alertsHost(t);
    const { host } = made;
    made.set('svc_ready', 0);
    await host.advance(5 * MINUTE);
    assert.deepEqual(made.told(), []);
    await host.advance(MINUTE);
    assert.equal(made.told().length, 1, made.told().join('\n'));
    assert.match(made.told()[0] ?? '', /^a ops: CRITICAL SvcNotReady: the host is not ready\n/);
    assert.match(
      made.told()[0] ?? '',
      new RegExp(`project test, runtimeId ${host.core.runtimeId}, since 2026-01-01 12:0\\d UTC`),
    );
    await host.advance(30 * MINUTE);
    assert.equal(made.told().length, 1);

    made.set('svc_ready', 1);
    await host.advance(4 * MINUTE);
    assert.equal(made.told().length, 1);
    await host.advance(3 * MINUTE);
    assert.equal(made.told().length, 2);
    assert.match(made.told()[1] ?? '', /^a ops: RESOLVED SvcNotReady: /);
    assert.deepEqual(
      host.events().flatMap(({ type }) => (type.startsWith('alert.') ? [type] : [])),
      ['alert.fired', 'alert.resolved'],
    );
  });

  it('is not carried by the account that it is about', async (t) => {
    const made = await alertsHost(t, {
      alerts: {
        notify: [
          { endpoint: 'memory~a', conversation: 'ops' },
          { endpoint: 'memory~b', conversation: 'pager', severities: ['critical'] },
        ],
      },
    });
    const labels = { endpoint: ACCOUNT };
    made.set('svc_endpoint_enabled', 1, labels);
    made.set('svc_endpoint_online', 0, labels);
    await made.host.advance(12 * MINUTE);

    assert.deepEqual(
      made.told().map((line) => line.split(':')[0]),
      ['b pager'],
    );
    assert.match(made.told()[0] ?? '', /WARNING SvcEndpointOffline: root\/memory:memory~a is offline\n/);
  });

  for (const killAt of ['alerts.fires', 'alerts.told'])
    it(`is told once where the process is killed at ${killAt}`, async (t) => {
      const first = await alertsHost(t, { killAt });
      first.set('svc_restarts_total', 0, { reason: 'crashed' });
      await first.host.advance(MINUTE);
      first.set('svc_checkpoint_age_seconds', 100_000);
      await first.host.advance(10 * MINUTE);
      assert.ok(first.isKilled); // as it became pending
      const second = await first.restart({ killAt });
      await second.host.advance(30 * MINUTE);
      assert.ok(second.isKilled); // as it fired
      const last = await second.restart();
      await last.host.advance(30 * MINUTE);

      assert.deepEqual(
        last.told().map((line) => line.split(':')[1]),
        [' WARNING SvcCheckpointOld'],
      );
    });

  it('is not told again after a restart, and `for` goes on over one', async (t) => {
    const first = await alertsHost(t);
    first.set('svc_ready', 0);
    await first.host.advance(4 * MINUTE);
    const second = await first.restart();
    await second.host.advance(2 * MINUTE + 30_000);
    assert.equal(second.told().length, 1, second.told().join('\n'));
    const third = await second.restart();
    await third.host.advance(60 * MINUTE);
    assert.equal(third.told().length, 1);
    third.set('svc_ready', 1);
    await third.host.advance(3 * MINUTE);
    const fourth = await third.restart();
    await fourth.host.advance(20 * MINUTE);
    assert.deepEqual(
      fourth.told().map((line) => line.split(':')[1]),
      [' CRITICAL SvcNotReady', ' RESOLVED SvcNotReady'],
    );
  });
});
