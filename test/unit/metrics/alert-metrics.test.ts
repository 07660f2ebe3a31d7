// How many alerts fire, and the figures that alerts read of a registry.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Counter, Gauge, Registry } from 'prom-client';
import { figureReader } from '../../../worker/alerts/figure-reader.ts';
import { AlertsHost, type AlertsHostDeps } from '../../../worker/host/alerts/alerts-host.ts';
import { alertMetrics, type FiringCounts } from '../../../worker/metrics/alert-metrics.ts';
import { readFigures } from '../../../worker/metrics/recent.ts';
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
    for (let look = 0; look < 21; look += 1) values.push((await read())[0]?.value ?? 0);
    assert.deepEqual([reads, values[0], values[9], values[10], values[20]], [3, 1, 1, 2, 3]);
  });
});

describe('the figures of a sample', () => {
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
      [
        { name: 'a_total', labels: { reason: 'x' }, value: 3 },
        { name: 'b', labels: {}, value: 7 },
      ],
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
