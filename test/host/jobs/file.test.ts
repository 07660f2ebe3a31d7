// The file while the host runs: what is taken in, what is refused, and that the good set goes on.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { describe, it } from 'node:test';
import { entry, jobsHost } from '../../support/hosts/jobs-host.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const TEA = entry('tea', { every: '1m', from: '2026-01-01T12:00Z' });

describe('the jobs file of a running host', () => {
  it('is taken in once it stood still, and a changed text is for later due times', async (t) => {
    const { host, write } = await jobsHost(t);
    assert.equal(host.engine.runtime.current?.capabilities.find('root/jobs#task/say'), undefined);
    write([TEA]);
    await host.advance(2 * MINUTE);
    write([{ ...TEA, do: { say: { to: { endpoint: 'memory~a', conversation: 'room' }, text: 'other' } } }]);
    await host.advance(MINUTE);

    assert.deepEqual(host.platform.said('room'), ['tea', 'tea', 'other']);
    assert.deepEqual(
      host.events('job.file_taken').map(({ data }) => data['jobs']),
      [1, 1],
    );
  });

  it('is refused with its place while it is broken, told once, and the good set goes on over a restart', async (t) => {
    const made = await jobsHost(t, { jobs: [TEA] });
    made.writeText('{\n  "version": 1,\n  "jobs": [ { "id": "tea"\n');
    await made.host.advance(2 * MINUTE);
    assert.deepEqual(made.host.platform.said('room'), ['tea', 'tea']);
    assert.deepEqual(
      made.host.events('job.file_refused').map(({ data }) => data),
      [{ code: 'invalid', line: 3, column: 26 }],
    );
    assert.equal(made.jobs.file.state, 'refused');
    const next = await made.restart();
    await next.host.advance(MINUTE);

    assert.equal(next.jobs.file.state, 'refused');
    assert.equal(next.host.platform.said('room').length, 3);
    next.write([]);
    await next.host.advance(MINUTE);
    assert.equal(next.jobs.file.state, 'taken');
    assert.equal(next.host.platform.said('room').length, 3);
  });

  it('is refused where it is gone or no regular file, and taken in again where it comes back as it was', async (t) => {
    const { host, jobs, file, write } = await jobsHost(t, { jobs: [TEA] });
    rmSync(file);
    await host.advance(3 * SECOND);
    assert.deepEqual(
      host.events('job.file_refused').map(({ data }) => data['code']),
      ['gone'],
    );
    execFileSync('mkfifo', [file]);
    await host.advance(3 * SECOND);
    assert.deepEqual(
      host.events('job.file_refused').map(({ data }) => data['code']),
      ['gone', 'unreadable'],
    );
    await host.advance(MINUTE);
    assert.deepEqual(host.platform.said('room'), ['tea']);
    rmSync(file);
    write([TEA]);
    await host.advance(3 * SECOND);

    assert.equal(jobs.file.state, 'taken');
  });

  it('that is not there loads nothing of jobs, also at a restart', async (t) => {
    const made = await jobsHost(t);
    await made.host.advance(5 * SECOND);
    assert.equal(made.jobs.isLoaded, false);
    const next = await made.restart();

    assert.equal(next.jobs.isLoaded, false);
    assert.equal(await next.jobs.figures(), undefined);
    assert.deepEqual(next.jobs.file, { state: 'absent' });
    assert.equal(next.host.engine.runtime.current?.capabilities.find('root/jobs#task/say'), undefined);
  });

  it('keeps items of jobs from a start that cannot read the set: their handler is there', async (t) => {
    const made = await jobsHost(t, { jobs: [TEA], killAt: { point: 'job_stored', pass: 1 } });
    await made.host.advance(MINUTE + SECOND);
    rmSync(made.file);
    const next = await made.restart();
    await next.host.advance(2 * SECOND);

    assert.deepEqual(next.host.platform.said('room'), ['tea']);
    assert.deepEqual(next.host.states('inbox'), ['done']);
  });
});
