// A scrape while some figures cannot be read: the others are there, and no counter falls to 0, which would count as a growth afterwards.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Gauge, Registry } from 'prom-client';
import { checkpointMetrics } from '../../../worker/metrics/checkpoint-metrics.ts';
import { jobMetrics } from '../../../worker/metrics/job-metrics.ts';
import { createMetrics, type MetricSources } from '../../../worker/metrics/metrics.ts';
import { releaseMetrics } from '../../../worker/metrics/release-metrics.ts';
import { workroomMetrics } from '../../../worker/metrics/workroom-metrics.ts';

const CHECKPOINTS = {
  ageSeconds: 1,
  verifiedSeconds: 1,
  bytes: 1,
  failures: new Map([['refused', 3]]),
  failed: 0,
  verifyFailures: new Map(),
};
const JOBS = {
  totals: [{ name: 'tea', outcome: 'missed', count: 5, last_at: 1 }],
  jobs: ['tea'],
  isFileOk: true,
};
const RELEASE = { state: 'observing', verdict: 'good' };
const WORKROOM = {
  items: [{ board: 'web', state: 'open', count: 1 }],
  overdue: [{ board: 'web', count: 0 }],
  blockedOldest: [{ board: 'web', seconds: 0 }],
  commands: [{ outcome: 'accepted', count: 7 }],
  seq: 7,
  isSound: true,
};

describe('a scrape', () => {
  it('leaves out what cannot be read, and has it again afterwards', async () => {
    const registry = new Registry();
    let isBroken = false;
    const read =
      <T>(figures: T) =>
      async (): Promise<T> => {
        if (isBroken) throw new Error('the database is gone');
        return figures;
      };
    new Gauge({ name: 'svc_ready', help: 'of another part', registers: [registry] }).set(1);
    checkpointMetrics(registry, read(CHECKPOINTS));
    jobMetrics(registry, read(JOBS));
    releaseMetrics(registry, read(RELEASE));
    workroomMetrics(registry, read(WORKROOM));
    const series = async (): Promise<readonly string[]> =>
      (await registry.metrics()).split('\n').filter(
        (line) => line !== '' && !line.startsWith('#') && !line.startsWith('svc_release_'), // gauges that show 0 then
      );

    const before = await series();
    isBroken = true;
    const meanwhile = await series();
    isBroken = false;

    assert.ok(before.includes('svc_jobs_missed_total{job="tea"} 5'), before.join('\n'));
    assert.deepEqual(meanwhile, ['svc_ready 1']);
    assert.deepEqual(await series(), before);
  });
});

describe('free room that the file system does not tell', () => {
  it('has no figure: one below the bound would alert of a full disk', async () => {
    const disk = async () => ({ usedBytes: 1, freeBytes: Number.POSITIVE_INFINITY });
    const build = { version: '1', runtimeId: 'r1' };
    const { registry } = createMetrics(build, { disk, diskLimits: () => ({}) } as unknown as MetricSources);
    assert.deepEqual((await registry.getSingleMetric('svc_disk_free_bytes')?.get())?.values, []);
  });
});
