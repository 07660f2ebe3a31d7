// How many alerts fire, and the figures that alerts read of a registry.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Counter, Gauge, Registry } from 'prom-client';
import { alertMetrics, type FiringCounts } from '../../../worker/metrics/alert-metrics.ts';
import { readFigures } from '../../../worker/metrics/recent.ts';

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
