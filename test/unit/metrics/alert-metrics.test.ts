// How many alerts fire, and the figures that alerts read of a registry.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Counter, Gauge, Registry } from 'prom-client';
import { figureReader } from '../../../worker/alerts/figure-reader.ts';
import { AlertsHost, type AlertsHostDeps } from '../../../worker/host/alerts/alerts-host.ts';
import { alertMetrics, type FiringCounts } from '../../../worker/metrics/alert-metrics.ts';
import { checkpointMetrics } from '../../../worker/metrics/checkpoint-metrics.ts';
import { createMetrics, type MetricSources, type StoredFigures } from '../../../worker/metrics/metrics.ts';
import { readFigures } from '../../../worker/metrics/recent.ts';
import { workroomMetrics } from '../../../worker/metrics/workroom-metrics.ts';
import { ManualClock } from '../../../worker/testing/manual-clock.ts';

const notThere = (): never => {
  throw new Error('not there');
};

describe('svc_alerts_firing', () => {
  it('is absent before the first look, then a number for each severity', async () => {
    const registry = new Registry();
    let firing: FiringCounts | undefined;
    alertMetrics(registry, () => firing);
    assert.doesNotMatch(await registry.metrics(), /svc_alerts_firing\{/);
    firing = { critical: 0, warning: 2 };
    const text = await registry.metrics();
    assert.match(text, /svc_alerts_firing\{severity="critical"\} 0\n/);
    assert.match(text, /svc_alerts_firing\{severity="warning"\} 2\n/);
  });
});

describe('the figures of a look', () => {
  it('have the ages of checkpoints, which are read at each tenth look', async () => {
    const registry = new Registry();
    let reads = 0;
    new Gauge({
      name: 'svc_checkpoint_age_seconds',
      help: 'a',
      registers: [registry],
      collect() {
        reads += 1;
        this.set(reads);
      },
    });
    const read = figureReader(registry);
    const values: number[] = [];
    for (let look = 0; look < 21; look += 1) values.push((await read()).readings[0]?.value ?? 0);
    assert.deepEqual([reads, values[0], values[9], values[10], values[20]], [3, 1, 1, 2, 3]);
  });
});

describe('the figures of a sample', () => {
  it('name those that could not be read, and a feature that is not there is none of them', async () => {
    const registry = new Registry();
    let isBroken = false;
    const broken =
      <T>(figures: T) =>
      async (): Promise<T> => {
        if (isBroken) throw new Error('the database is gone');
        return figures;
      };
    workroomMetrics(registry, broken(undefined));
    checkpointMetrics(
      registry,
      broken({
        ageSeconds: 1,
        verifiedSeconds: 1,
        bytes: 1,
        failures: new Map(),
        failed: 0,
        verifyFailures: new Map(),
      }),
    );
    new Gauge({ name: 'b', help: 'b', registers: [registry], collect: () => assert.ok(!isBroken) });
    const wanted = ['svc_workroom_journal_ok', 'svc_workroom_overdue', 'svc_checkpoint_age_seconds', 'b'].map(
      (name) => ({ name }),
    );
    const unread = async () => (await readFigures(registry, wanted)).unread;

    assert.deepEqual(await unread(), []);
    isBroken = true;
    assert.deepEqual(
      await unread(),
      wanted.map(({ name }) => name),
    );
    isBroken = false;
    assert.deepEqual(await unread(), []);
  });

  it('of the database are unread while it is', async () => {
    let stored: StoredFigures | undefined;
    const sources = { stored: async () => stored, ingressPaused: () => undefined };
    const { registry } = createMetrics({ version: '1', runtimeId: 'r1' }, sources as unknown as MetricSources);
    const names = ['svc_inbox_dead', 'svc_restarts_total', 'svc_ingress_paused'];
    const read = () =>
      readFigures(
        registry,
        names.map((name) => ({ name })),
      );

    assert.deepEqual(await read(), { readings: [], unread: names });
    stored = { inboxOldestSeconds: 0, inboxDead: 2, outboxPending: 0, outboxDead: 0, databaseBytes: 1, restarts: {} };
    const { readings, unread } = await read();
    assert.deepEqual([readings[0]?.value, unread], [2, ['svc_ingress_paused']]);
  });

  it('are those that rules select, and no other metric is collected', async () => {
    const registry = new Registry();
    const registers = [registry];
    new Counter({ name: 'a_total', help: 'a', labelNames: ['reason'], registers }).inc({ reason: 'x' }, 3);
    (registry.getSingleMetric('a_total') as Counter).inc({ reason: 'y' }, 4);
    new Gauge({ name: 'b', help: 'b', registers }).set(7);
    let collected = 0;
    new Gauge({ name: 'c', help: 'c', registers, collect: () => void (collected += 1) });

    assert.deepEqual(
      await readFigures(registry, [
        { name: 'a_total', where: { reason: ['x'] } },
        { name: 'b' },
        { name: 'b' },
        { name: 'gone' },
      ]),
      {
        readings: [
          { name: 'a_total', labels: { reason: 'x' }, value: 3 },
          { name: 'b', labels: {}, value: 7 },
        ],
        unread: [],
      },
    );
    assert.equal(collected, 0);
  });
});

describe('the alerts of a host', () => {
  const looksWithin = async (seconds: number, hasCrashed: boolean): Promise<boolean> => {
    const clock = new ManualClock(1_000);
    let isAsked = false;
    const deps = {
      core: { clock, log: { error: () => {} } },
      registry: () => {
        isAsked = true;
        return new Registry();
      },
    };
    const alerts = new AlertsHost({
      ...deps,
      engine: notThere,
      name: notThere,
      project: '',
    } as unknown as AlertsHostDeps);
    alerts.start({ hasCrashed });
    clock.moveTo(1_000 + seconds * 1_000);
    await alerts.stop().catch(() => {});
    return isAsked;
  };

  it('are looked at half a minute after a start, and at once after a crash: the next one may come sooner', async () => {
    assert.deepEqual(
      [await looksWithin(5, false), await looksWithin(31, false), await looksWithin(5, true)],
      [false, true, true],
    );
  });
});
