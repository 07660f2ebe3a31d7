// Metrics of plugins in the registry: over reloads, and when a gauge fails.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Registry } from 'prom-client';
import { PluginMetrics } from '../../../worker/metrics/metrics.ts';

const lines = async (registry: Registry): Promise<string[]> =>
  (await registry.metrics()).split('\n').filter((line) => line !== '' && !line.startsWith('#'));

describe('metrics of plugins', () => {
  it('keep counters over a reload, unless their labels are others; gauges are those that serve', async () => {
    const registry = new Registry();
    const metrics = new PluginMetrics(registry);
    metrics.serve([{ name: 'a_total', help: 'A', labels: {} }], [{ name: 'g', help: 'G', read: () => 1 }]);
    metrics.count('a_total', {});
    metrics.serve([{ name: 'a_total', help: 'A', labels: {} }], [{ name: 'g', help: 'G', read: async () => 2 }]);
    metrics.count('a_total', {});

    assert.deepEqual(await lines(registry), ['a_total 2', 'g 2']);

    metrics.serve([{ name: 'a_total', help: 'A', labels: { kind: ['x'] } }], []);
    metrics.count('a_total', { kind: 'x' });

    assert.deepEqual(await lines(registry), ['a_total{kind="x"} 1']);
  });

  it('show a gauge that fails or does not answer as NaN, and the others all the same', async () => {
    const registry = new Registry();
    const gauges = [
      { name: 'bad', help: 'B', read: () => Promise.reject(new Error('no')) },
      {
        name: 'worse',
        help: 'W',
        read: (): number => {
          throw new Error('no');
        },
      },
      { name: 'slow', help: 'S', read: () => new Promise<number>(() => {}) },
      { name: 'text', help: 'T', read: () => '5' as never },
      { name: 'nothing', help: 'N', read: () => undefined as never },
      { name: 'good', help: 'G', read: () => 3 },
    ];
    new PluginMetrics(registry).serve([], gauges);

    const shown = ['bad Nan', 'worse Nan', 'slow Nan', 'text Nan', 'nothing Nan', 'good 3'];
    assert.deepEqual(await lines(registry), shown);
  });

  it('may be a counter in one generation and a gauge of its name in the next', async () => {
    const registry = new Registry();
    const metrics = new PluginMetrics(registry);
    metrics.serve([{ name: 'a_total', help: 'A', labels: {} }], []);
    metrics.serve([], [{ name: 'a_total', help: 'A', read: () => 7 }]);

    assert.deepEqual(await lines(registry), ['a_total 7']);

    metrics.serve([{ name: 'a_total', help: 'A', labels: {} }], []);
    metrics.count('a_total', {});

    assert.deepEqual(await lines(registry), ['a_total 1']);
  });
});
