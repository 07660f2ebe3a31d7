// How long runs are kept, what a report of `--once` says of jobs, which slot is the host's own, and what counters say after a restart.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { loadConfig } from '../../../shared/config/load.ts';
import { Housekeeping } from '../../../worker/host/housekeeping.ts';
import { onceJobs } from '../../../worker/runtime/loading/once-jobs.ts';
import { entry, jobsHost } from '../../support/hosts/jobs-host.ts';
import { temporaryProject } from '../../support/temporary-project.ts';

const MINUTE = 60_000;
const DAY = 86_400_000;

describe('runs of jobs', () => {
  it('are kept for their days, the last of each job longer, and their totals for ever', async (t) => {
    const made = await jobsHost(t, { jobs: [entry('tea', { every: '1m', from: '2026-01-01T12:00Z' })] });
    await made.host.advance(3 * MINUTE);
    made.write([]);
    await made.host.advance(3_000);
    assert.equal(made.ledger().length, 3);
    const keep = { bodyDays: 7, idDays: 30, outboxDays: 7, runDays: 90 };
    const housekeeping = new Housekeeping(made.host.core, () => keep);
    await housekeeping.run();
    for (let day = 0; day < 100; day += 1) {
      made.host.clock.moveTo(made.host.clock.now() + DAY);
      await housekeeping.run();
    }

    assert.equal(made.ledger().length, 1);
    const next = await made.restart();
    const { totals = [] } = (await next.jobs.figures()) ?? {};
    assert.deepEqual(
      totals.map(({ name, outcome, count }) => [name, outcome, count]),
      [['tea', 'done', 3]],
    );
    assert.equal(totals[0]?.last_at, Date.parse('2026-01-01T12:03Z'));
  });
});

describe('the report of --once', () => {
  it('lists jobs with their next due time, and a refused file is a fault', async (t) => {
    const project = temporaryProject(t);
    assert.deepEqual(await onceJobs(project.path, 'UTC'), { jobs: [], faults: [] });
    project.write(
      'data/schedule-jobs.json',
      JSON.stringify({ version: 1, jobs: [entry('tea', { at: '2999-01-01T09:00' })] }),
    );
    assert.deepEqual((await onceJobs(project.path, 'Europe/Berlin')).jobs, [
      { id: 'job/tea', at: '2999-01-01T09:00', timezone: 'Europe/Berlin', next: '2999-01-01T08:00:00.000Z' },
    ]);
    project.write('data/schedule-jobs.json', '{}');
    const { faults } = await onceJobs(project.path, 'UTC');

    assert.match(faults[0]?.message ?? '', /^data\/schedule-jobs\.json:1:1 needs the key/);
  });
});

it('the slot of the hidden plugin is refused in the configuration', (t) => {
  const project = temporaryProject(t, { config: { plugins: { jobs: { use: 'ping' } } } });

  assert.throws(
    () => loadConfig({ project: project.path, mode: 'production', environment: project.env }),
    /plugins\.jobs is a slot of the host itself/,
  );
});
