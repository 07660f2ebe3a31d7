// One scheduled job, for tests of the HTTP interface without a database.
import { SvcError } from '../../../shared/svc-error.ts';
import type { JobsApi } from '../../../worker/http/api/jobs-api.ts';

export function fakeJobs(calls: string[]): JobsApi {
  const shownJob = (texts: boolean) => ({
    id: 'tea',
    cron: '0 16 * * *',
    paused: false,
    next: '2026-01-01T16:00:00.000Z',
    last: null,
    target: 'there',
    ...(texts ? { title: 'Tea time' } : {}),
  });
  const required = (id: string): void => {
    if (id !== 'tea') throw new SvcError('not_found', `there is no job ${id}`);
  };
  const changed = (what: string, id: string, revision: string | undefined) => {
    required(id);
    if (revision !== undefined && revision !== '7.ab')
      throw new SvcError('precondition_failed', 'another revision is there');
    calls.push(`${what} ${id}`);
    return { job: what === 'remove' ? undefined : shownJob(true), revision: '8.cd', isNew: false };
  };
  return {
    list: async (texts) => ({
      file: { state: 'taken', revision: 7, sha256: 'ab', fault: null },
      jobs: [shownJob(texts)],
    }),
    show: async (id, texts) => {
      required(id);
      return { job: shownJob(texts), revision: '7.ab' };
    },
    put: async (id, _entry, { revision }) => changed('put', id, revision),
    remove: async (id, { revision }) => changed('remove', id, revision),
    setPaused: async (id, paused, { revision }) => changed(paused ? 'pause' : 'resume', id, revision),
    run: async (id) => {
      required(id);
      calls.push(`run ${id}`);
      return { runId: 'run-1' };
    },
    runs: async () => ({ runs: [] }),
  };
}
