// The main way of a job: from the file over its due time to one run, which the ledger tells of.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { entry, jobsHost } from '../../support/hosts/jobs-host.ts';

const MINUTE = 60_000;
const at = (text: string): number => Date.parse(text);

describe('a scheduled job', () => {
  it('runs once at its due time, and the ledger and the events tell of it', async (t) => {
    const { host, ledger } = await jobsHost(t, { jobs: [entry('tea', { cron: '5 * * * *' })] });

    await host.advance(4 * MINUTE);
    assert.deepEqual(host.platform.said('room'), []);
    await host.advance(2 * MINUTE);

    assert.deepEqual(host.platform.said('room'), ['tea']);
    const [run] = ledger();
    assert.deepEqual(
      ledger().map(({ job, due, state }) => ({ job, due, state })),
      [{ job: 'tea', due: at('2026-01-01T12:05Z'), state: 'done' }],
    );
    assert.deepEqual(
      host.events().flatMap(({ type }) => (type.startsWith('job.') ? [type] : [])),
      ['job.file_taken', 'job.started', 'job.ended'],
    );
    assert.deepEqual(
      host.rows('SELECT DISTINCT run_id FROM event_log WHERE run_id IS NOT NULL').map(({ run_id }) => run_id),
      [run?.run_id],
    );
    await host.advance(60 * MINUTE);
    assert.deepEqual(host.platform.said('room'), ['tea', 'tea']);
  });
});
