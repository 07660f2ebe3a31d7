// What is told of alerts through an account, over a clock that the test moves.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SvcError } from '../../../shared/svc-error.ts';
import { countDead, readStoredFigures } from '../../../worker/metrics/stored-figures.ts';
import { ACCOUNT, type AlertsHost, alertsHost } from '../../support/alerts/alerts-host.ts';

const MINUTE = 60_000;

/** First word of each message. */
const heads = ({ told }: AlertsHost): readonly string[] => told().map((line) => /: (.*?) Svc/.exec(line)?.[1] ?? line);

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
    assert.deepEqual(made.alerts.critical(), ['SvcNotReady']);

    made.set('svc_ready', 1);
    await host.advance(4 * MINUTE);
    assert.equal(made.told().length, 1);
    await host.advance(3 * MINUTE);
    assert.equal(made.told().length, 2);
    assert.match(made.told()[1] ?? '', /^a ops: RESOLVED SvcNotReady: /);
    assert.deepEqual(made.alerts.critical(), []);
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

  it('that flaps is told four times, the last as flapping', async (t) => {
    const made = await alertsHost(t);
    for (let n = 0; n < 4; n += 1) {
      made.set('svc_ingress_paused', 1);
      made.set('svc_disk_min_free_bytes', 100);
      made.set('svc_disk_free_bytes', 1);
      await made.host.advance(6 * MINUTE);
      made.set('svc_disk_free_bytes', 1_000);
      await made.host.advance(7 * MINUTE);
    }
    assert.deepEqual(heads(made), ['CRITICAL', 'RESOLVED', 'CRITICAL', 'FLAPPING (critical)']);
  });

  it('changes of a minute arrive in one message', async (t) => {
    const made = await alertsHost(t);
    made.set('svc_ready', 0);
    made.set('svc_inbox_oldest_seconds', 5_000);
    made.set('svc_ingress_paused', 0);
    await made.host.advance(7 * MINUTE);
    assert.equal(made.told().length, 1);
    assert.match(made.told()[0] ?? '', /CRITICAL SvcNotReady: [\s\S]*\n\nWARNING SvcBacklog: /);
  });

  it('of the backlog goes on over a pause, and is not told again after it', async (t) => {
    const made = await alertsHost(t);
    made.set('svc_inbox_oldest_seconds', 5_000);
    made.set('svc_ingress_paused', 0);
    await made.host.advance(7 * MINUTE);
    made.set('svc_ingress_paused', 1);
    await made.host.advance(30 * MINUTE);
    made.set('svc_ingress_paused', 0);
    await made.host.advance(30 * MINUTE);
    assert.deepEqual(heads(made), ['WARNING']);
  });

  it('that a step of a release causes is told only where it outlasts the release', async (t) => {
    const made = await alertsHost(t);
    made.expected = new Set(['SvcPausedLong']);
    made.set('svc_ingress_paused', 1);
    await made.host.advance(150 * MINUTE);
    assert.deepEqual(made.told(), []);
    made.expected = new Set();
    await made.host.advance(MINUTE);
    assert.deepEqual(heads(made), ['WARNING']);
  });

  it('waits for a generation that can carry it', async (t) => {
    const made = await alertsHost(t);
    const { runtime } = made.host.engine;
    const { current } = runtime;
    let isServed = false;
    Object.defineProperty(runtime, 'current', { configurable: true, get: () => (isServed ? current : undefined) });
    made.set('svc_ready', 0);
    await made.host.advance(20 * MINUTE);
    assert.deepEqual(made.told(), []);
    assert.equal(made.alerts.firing().critical, 1);
    isServed = true;
    await made.host.advance(MINUTE);
    assert.deepEqual(heads(made), ['CRITICAL']);
  });

  it('is in the events too where the storage took nothing as it fired', async (t) => {
    const made = await alertsHost(t);
    const { writer } = made.host.core;
    const commit = writer.commit.bind(writer);
    made.set('svc_ready', 0);
    await made.host.advance(4 * MINUTE);
    writer.commit = () => Promise.reject(new SvcError('storage_unavailable', 'the disk is gone'));
    await made.host.advance(3 * MINUTE);
    assert.equal(made.alerts.firing().critical, 1);
    writer.commit = commit;
    await made.host.advance(MINUTE);

    assert.deepEqual(heads(made), ['CRITICAL']);
    assert.equal(made.host.events('alert.fired').length, 1);
    await made.host.advance(10 * MINUTE);
    assert.equal(made.host.events('alert.fired').length, 1);
  });

  it('reaches the other targets where the platform of one cannot write it', async (t) => {
    const made = await alertsHost(t, {
      alerts: {
        notify: [
          { endpoint: 'memory~a', conversation: 'ops' },
          { endpoint: 'memory~b', conversation: 'pager' },
        ],
      },
    });
    const { current } = made.host.engine.runtime;
    assert.ok(current !== undefined);
    const can = current.can.bind(current);
    const render = () => {
      throw new Error('no such mark');
    };
    current.can = (endpoint) => {
      const able = can(endpoint);
      return endpoint === ACCOUNT && able !== undefined ? { ...able, text: { ...able.text, render } } : able;
    };
    made.set('svc_ready', 0);
    await made.host.advance(7 * MINUTE);

    assert.deepEqual(
      made.told().map((line) => line.split(':')[0]),
      ['b pager'],
    );
    assert.ok(made.host.logs.some(({ message }) => message === 'an alert could not be written for its platform'));
  });

  it('goes on after the wall clock was set back', async (t) => {
    const made = await alertsHost(t);
    made.set('svc_ready', 0);
    await made.host.advance(2 * MINUTE);
    made.host.clock.step(-86_400_000);
    await made.host.advance(8 * MINUTE);
    assert.deepEqual(heads(made), ['CRITICAL']);
    made.set('svc_ready', 1);
    await made.host.advance(2 * MINUTE);
    made.host.clock.step(-86_400_000);
    await made.host.advance(8 * MINUTE);
    assert.deepEqual(heads(made), ['CRITICAL', 'RESOLVED']);
  });

  it('without targets is in the log and in the events', async (t) => {
    const made = await alertsHost(t, { alerts: { notify: [] } });
    made.set('svc_ready', 0);
    await made.host.advance(6 * MINUTE);
    assert.deepEqual(made.told(), []);
    assert.equal(made.host.events('alert.fired').length, 1);
    assert.ok(made.host.logs.some(({ level, message }) => level === 'warn' && message.startsWith('alert fires')));
  });

  it('is looked at by the settings of the configuration', async (t) => {
    const made = await alertsHost(t, {
      alerts: { rules: { SvcNotReady: { for: '1m', severity: 'warning' }, SvcPausedLong: { enabled: false } } },
    });
    made.set('svc_ready', 0);
    made.set('svc_ingress_paused', 1);
    await made.host.advance(180 * MINUTE);
    assert.deepEqual(heads(made), ['WARNING']);
    assert.match(made.told()[0] ?? '', /SvcNotReady/);
  });
});

describe('a crash', () => {
  it('fires after the start that follows it, though nobody sampled it, and names the process', async (t) => {
    const first = await alertsHost(t);
    await first.host.advance(20 * MINUTE);
    await first.host.write(
      "INSERT INTO starts (runtime_id, number, at, pid, owner, version, node, previous_end) VALUES ('r1', 1, ?, 1, 'o', 'v', 'n', 'first')",
      first.host.clock.now() - 60 * MINUTE,
    );
    await first.host.write(
      "INSERT INTO starts (runtime_id, number, at, pid, owner, version, node, previous_end) VALUES ('r2', 2, ?, 1, 'o', 'v', 'n', 'crashed')",
      first.host.clock.now() - 1_000,
    );
    first.set('svc_restarts_total', 1, { reason: 'crashed' });
    const next = await first.restart();
    await next.host.advance(2 * MINUTE);
    assert.deepEqual(heads(next), ['WARNING']);
    assert.match(next.told()[0] ?? '', /SvcCrashed: .*\n.*runtimeId r1,/);
    await next.host.advance(30 * MINUTE);
    assert.deepEqual(heads(next), ['WARNING', 'RESOLVED']);
  });
});

describe('a gap that was told before the first look', () => {
  it('fires, and one that an earlier process counted does not', async (t) => {
    const first = await alertsHost(t);
    first.set('svc_sse_gaps_total', 0, { reason: 'expired' });
    const second = await first.restart();
    await second.host.advance(10 * MINUTE);
    assert.deepEqual(second.told(), []);
    second.set('svc_sse_gaps_total', 2, { reason: 'expired' }); // of the next process
    const third = await second.restart();
    await third.host.advance(MINUTE);
    assert.match(third.told()[0] ?? '', /WARNING SvcStreamGaps/);
  });
});

describe('a message of an alert that cannot be sent', () => {
  it('is a dead letter, and no figure of an alert counts it', async (t) => {
    const made = await alertsHost(t);
    const { host } = made;
    host.platform.answer = () => ({ kind: 'refused', reason: 'no such conversation' });
    made.set('svc_ready', 0);
    await host.advance(10 * MINUTE);

    assert.deepEqual(host.states('outbox'), ['dead']);
    const figures = await readStoredFigures(host.core, host.project.paths.database);
    assert.equal(figures?.outboxDead, 0);
    assert.deepEqual(await countDead(host.core.reader), { inbox: 0, outbox: 1 });
    assert.deepEqual(
      host.logs.filter(({ level }) => level === 'error'),
      [],
    );
    assert.ok(host.logs.some(({ message }) => message.startsWith('a send is a dead letter')));
  });
});
