// Kills before and after each commit of a due time, of its end, of a file and of a run by hand. Counts are exact.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createIdempotency } from '../../../worker/ingress/idempotency.ts';
import { entry, type JobsHost, jobsHost } from '../../support/hosts/jobs-host.ts';

const MINUTE = 60_000;
const at = (time: string): number => Date.parse(`2026-01-01T${time}Z`);
const states = ({ ledger }: JobsHost) => ledger().map(({ due, state }) => [due, state]);
const CALLER = { actor: 'token:test', scope: 'full', requestId: '1' } as const;

describe('a kill', () => {
  for (const point of ['job_due', 'job_stored', 'job_ended', 'received', 'decided', 'committed'])
    it(`at ${point} of a due time leaves one run and one text`, async (t) => {
      const first = await jobsHost(t, {
        jobs: [entry('tea', { cron: '5 12 * * *' })],
        killAt: { point, pass: 1 },
      });
      await first.host.advance(6 * MINUTE);
      assert.equal(first.isKilled(), point !== 'received'); // items of jobs come over no platform
      const next = await first.restart();
      await next.host.advance(2 * MINUTE);

      assert.deepEqual(states(next), [[at('12:05'), 'done']]);
      assert.deepEqual(new Set(next.host.platform.said('room')), new Set(['tea']));
      assert.equal(next.host.rows('SELECT id FROM outbox').length, 1);
      assert.equal(next.host.events('job.started').length, 1);
      assert.equal(next.host.events('job.ended').length, 1);
    });

  it('before a file is taken in leaves it to the next start', async (t) => {
    const first = await jobsHost(t, {
      jobs: [entry('tea', { cron: '5 12 * * *' })],
      killAt: { point: 'job_file', pass: 1 },
    });
    assert.ok(first.isKilled());
    const next = await first.restart();
    await next.host.advance(6 * MINUTE);

    assert.deepEqual(states(next), [[at('12:05'), 'done']]);
    assert.equal(next.host.events('job.file_taken').length, 1);
  });

  it('between a changed file and its taking in leaves the new file', async (t) => {
    const first = await jobsHost(t, {
      jobs: [entry('tea', { cron: '5 12 * * *' })],
      killAt: { point: 'job_file_written', pass: 1 },
    });
    const changing = first.jobs.api.setPaused('tea', true, { caller: CALLER, revision: undefined, keep: () => [] });
    void changing.catch(() => {});
    await first.host.until('the kill', () => first.isKilled());
    const next = await first.restart();

    const { job, revision } = await next.jobs.api.show('tea', true);
    assert.equal(job['paused'], true);
    assert.match(revision, /^1\./);
  });

  it('behind a run by hand and before its answer starts no second run under the same Idempotency-Key', async (t) => {
    const first = await jobsHost(t, { jobs: [entry('tea', { cron: '0 0 1 1 *' })] });
    const keys = createIdempotency(first.host.core);
    assert.deepEqual(await keys.begin('key', 'POST /api/jobs/tea/run', 'digest'), { kind: 'new' });
    const { runId } = await first.jobs.api.run('tea', {
      caller: CALLER,
      keep: (run) => keys.keeping('key', 'POST /api/jobs/tea/run', { status: 202, body: run, headers: {} }),
    });
    first.host.kill();
    await first.jobs.stop();
    const next = await first.restart();
    const again = await createIdempotency(next.host.core).begin('key', 'POST /api/jobs/tea/run', 'digest');

    assert.deepEqual(again, { kind: 'known', status: 202, body: { runId }, headers: {} });
    assert.equal(next.ledger().length, 1);
  });
});
