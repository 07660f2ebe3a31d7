// Figures that cannot be read: what fired by them goes on, nothing is told as over, and the host says what it does not know.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { figureReader } from '../../../worker/alerts/index.ts';
import { createMetrics, type MetricSources } from '../../../worker/metrics/metrics.ts';
import { readStoredFigures } from '../../../worker/metrics/stored-figures.ts';
import { alertsHost } from '../../support/alerts/alerts-host.ts';
import type { EngineHost } from '../../support/hosts/engine-host.ts';

const MINUTE = 60_000;
const DEAD_SEND = `INSERT INTO outbox (id, key, endpoint, conversation, kind, payload_version, body, sha256, bytes, unsure, state, attempts,
  created_at, done_at) VALUES ('s1', 'k1', 'root/memory:memory~b', 'x', 'post', 1, '{}', '', 2, 'again', 'dead', 1, 1, 1)`;

/** The figures of a host, read as it reads them. */
function metricsOf({ core, project }: EngineHost) {
  const sources: MetricSources = {
    project: () => 'test',
    ready: () => true,
    generation: () => 1,
    stored: () => readStoredFigures(core, project.paths.database),
    streams: () => 0,
    inboxPending: () => ({ items: 0, bytes: 0 }),
    inboxRunning: () => 0,
    outboxRunning: () => 0,
    eventHead: () => 0,
    eventOldest: () => 0,
    endpoints: () => [],
    webhooks: () => [],
    plugins: () => [],
    disk: async () => ({ usedBytes: 0, freeBytes: 1e12 }),
    diskLimits: () => ({ maxBytes: 1e12, minFreeBytes: 0 }),
    ingressPaused: () => 0,
    logs: () => ({}),
  };
  return figureReader(createMetrics({ version: '1', runtimeId: core.runtimeId }, sources).registry);
}

describe('an alert of a database that cannot be read', () => {
  it('goes on, and is not told as over once it can be read again', async (t) => {
    const rules = { SvcDeadLetters: { for: '0s' } };
    const made = await alertsHost(t, { alerts: { rules }, read: metricsOf });
    const { host } = made;
    await host.write(DEAD_SEND);
    await host.advance(2 * MINUTE);
    assert.match(made.told()[0] ?? '', /WARNING SvcDeadLetters: 1 dead letters/);
    const { reader } = host.core;
    const { first } = reader;
    reader.first = () => Promise.reject(new Error('the disk is gone'));
    await host.advance(60 * MINUTE);

    assert.deepEqual(made.alerts.firing(), { critical: 0, warning: 1 });
    const unknown = made.alerts.unknown.map(({ name }) => name);
    assert.deepEqual(unknown, ['SvcCrashed', 'SvcCrashLoop', 'SvcDeadLetters', 'SvcBacklog']);
    reader.first = first;
    await host.advance(60 * MINUTE);
    assert.deepEqual([made.alerts.unknown, made.told().length], [[], 1]);
  });
});

describe('an alert whose figures cannot be read', () => {
  it('goes on, is not told as over, and resolves once they can be read again', async (t) => {
    const made = await alertsHost(t);
    made.set('svc_inbox_dead', 1);
    made.set('svc_outbox_dead', 0);
    await made.host.advance(20 * MINUTE);
    made.lose('svc_inbox_dead', 'svc_outbox_dead');
    await made.host.advance(90 * MINUTE);

    assert.equal(made.told().length, 1, made.told().join('\n'));
    assert.deepEqual(made.alerts.firing(), { critical: 0, warning: 1 });
    assert.deepEqual(made.alerts.unknown, [{ name: 'SvcDeadLetters', figures: ['svc_inbox_dead', 'svc_outbox_dead'] }]);
    const said = made.host.logs.filter(({ message }) => /figures/.test(message));
    assert.deepEqual(
      said.map(({ level }) => level),
      ['warn'],
    );

    made.lose();
    made.set('svc_inbox_dead', 0);
    await made.host.advance(MINUTE);
    assert.deepEqual(made.alerts.unknown, []);
    await made.host.advance(6 * MINUTE);
    assert.match(made.told()[1] ?? '', /RESOLVED SvcDeadLetters/);
  });

  it('is named where it is critical, and all of these are before anybody has looked', async (t) => {
    const made = await alertsHost(t, { alerts: { rules: { SvcDiskLow: { enabled: false } } } });
    made.lose('svc_ready', 'svc_inbox_dead');
    await made.host.advance(MINUTE);
    assert.deepEqual(made.alerts.unknownCritical(), ['SvcNotReady']);
    made.lose();
    await made.host.advance(MINUTE);
    assert.deepEqual(made.alerts.unknownCritical(), []);

    made.alerts.lookedAt = undefined;
    const all = made.alerts.unknownCritical();
    assert.ok(all.includes('SvcNotReady') && all.includes('SvcCrashLoop') && !all.includes('SvcDiskLow'));
    await made.alerts.firstLook();
    assert.deepEqual(made.alerts.unknownCritical(), []);
  });

  it('does not fire either', async (t) => {
    const made = await alertsHost(t);
    made.set('svc_inbox_dead', 1);
    made.set('svc_outbox_dead', 0);
    await made.host.advance(5 * MINUTE);
    made.lose('svc_inbox_dead');
    await made.host.advance(60 * MINUTE);
    assert.deepEqual(made.told(), []);
    made.lose();
    made.set('svc_inbox_dead', 0);
    await made.host.advance(60 * MINUTE);
    assert.deepEqual(made.told(), []);
  });

  it('over a window goes on as well: a crash was not undone', async (t) => {
    const made = await alertsHost(t);
    made.set('svc_restarts_total', 0, { reason: 'crashed' });
    await made.host.advance(20 * MINUTE);
    made.set('svc_restarts_total', 1, { reason: 'crashed' });
    await made.host.advance(2 * MINUTE);
    made.lose('svc_restarts_total');
    await made.host.advance(40 * MINUTE);
    assert.equal(made.told().length, 1);
    made.lose();
    await made.host.advance(10 * MINUTE);
    assert.match(made.told()[1] ?? '', /RESOLVED SvcCrashed/);
  });
});
