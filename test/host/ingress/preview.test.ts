// What the end of a pause would begin: told before, and begun then.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createIngressApi } from '../../../worker/host/ingress.ts';
import { definePlugin } from '../../../worker/sdk/index.ts';
import { entry, jobsHost } from '../../support/hosts/jobs-host.ts';

const MINUTE = 60_000;
const EVERY = { every: '10m', from: '2026-01-01T12:00Z' };

const clerk = definePlugin({
  name: 'clerk',
  setup(p) {
    const fire = p.task('fire', { data: {} }, () => {});
    p.on('message', {}, (ctx) => ctx.schedule(fire, {}, { afterMs: MINUTE }));
    p.cron('tick', { at: '*/5 * * * *', missed: 'run_once' }, () => {});
    p.cron('skipped', { at: '*/5 * * * *', missed: 'skip' }, () => {});
  },
});

describe('a preview of the end of a pause', () => {
  it('names parked items, jobs by their `missed`, tasks and cron, and changes nothing', async (context) => {
    const jobs = [
      entry('once', EVERY),
      entry('all', { ...EVERY, missed: 'run_all', within: '20m', overlap: 'queue' }),
      entry('skip', { ...EVERY, missed: 'skip' }),
    ];
    const made = await jobsHost(context, { jobs, modules: { clerk } });
    const { host } = made;
    await host.platform.says('remind me');
    await host.quiet();
    await host.engine.gate.set({ state: 'paused', mode: 'park' }, 'op');
    for (const text of ['a', 'b']) await host.platform.says(text);
    await host.advance(33 * MINUTE);
    const ingress = createIngressApi(host.engine, made.jobs);
    const parked = await ingress.status();
    const due = host.rows('SELECT id, at FROM due ORDER BY id');
    const preview = await ingress.preview();

    assert.deepEqual([parked.quiet, parked.parked], [true, 2]);
    assert.deepEqual(preview, {
      items: [{ endpoint: 'root/memory:memory~a', kind: 'arrival', count: 2, oldest: '2026-01-01T12:00:00.000Z' }],
      jobs: [
        { job: 'all', runs: 2, missed: 1 },
        { job: 'once', runs: 1, missed: 2 },
        { job: 'skip', runs: 0, missed: 3 },
      ],
      tasks: [
        { handler: 'root/clerk#cron/tick', kind: 'cron', count: 1, oldest: '2026-01-01T12:05:00.000Z' },
        { handler: 'root/clerk#task/fire', kind: 'task', count: 1, oldest: '2026-01-01T12:01:00.000Z' },
      ],
    });
    assert.deepEqual(host.rows('SELECT id, at FROM due ORDER BY id'), due);

    await host.engine.gate.set({ state: 'open' }, 'op');
    await host.advance(1_000);
    const runs = made.ledger().filter(({ state }) => state !== 'missed');
    assert.deepEqual(runs.map(({ job }) => job).toSorted(), ['all', 'all', 'once']);
    assert.deepEqual(
      host.rows<{ kind: string; n: number }>('SELECT kind, count(*) AS n FROM inbox GROUP BY kind ORDER BY kind'),
      [
        { kind: 'arrival', n: 3 },
        { kind: 'cron', n: 1 },
        { kind: 'task', n: 4 },
      ],
    );
  });
});
