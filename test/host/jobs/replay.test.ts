// A dead letter of a job that is replayed: its run goes on, and the ledger tells how it ended.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { openStoredItems } from '../../../worker/host/stored-items.ts';
import { HTTP, type Running, running } from '../../support/hosts/app-host.ts';
import { type Cleanup, temporaryProject } from '../../support/temporary-project.ts';
import { until } from '../../support/until.ts';

/** Fails until a file says that it is mended. */
const BROKEN = `import { existsSync } from 'node:fs';
import { definePlugin, giveUp } from 'svc';
export default definePlugin({ name: 'broken', setup(p) {
  p.command('tidy', { summary: 'Tidies up' }, () => {
    if (!existsSync(new URL('../mended', import.meta.url))) throw giveUp('not mended yet');
    return 'tidy';
  });
} });
`;
const JOB = { cron: '0 0 1 1 *', do: { command: { in: { endpoint: 'sandbox', conversation: 'ann' }, line: '/tidy' } } };

interface Run {
  readonly state: string;
  readonly reason: string | null;
  readonly item: string;
}

async function failedRun(t: Cleanup): Promise<{ readonly host: Running; readonly item: string }> {
  const project = temporaryProject(t, {
    config: { http: HTTP, plugins: { sandbox: {}, broken: { use: './plugins/broken.js' } } },
    plugins: { 'broken.js': BROKEN },
  });
  const host = await running(t, { project });
  const put = await host.call('PUT', '/api/jobs/tidy', JOB);
  assert.equal(put.status, 201, put.text);
  assert.equal((await host.call('POST', '/api/jobs/tidy/run')).status, 202);
  const { item, reason } = await ended(host, 'failed');
  assert.equal(reason, 'handler_failed');
  project.write('mended', '');
  return { host, item };
}

const runsOf = async ({ call }: Running): Promise<readonly Run[]> =>
  (await call('GET', '/api/jobs/tidy/runs')).json['runs'] as readonly Run[];

const ended = (host: Running, state: string): Promise<Run> =>
  until(async () => (await runsOf(host)).find((run) => run.state === state), { what: `a run that is ${state}` });

describe('a replayed dead letter of a job', () => {
  it('ends its run a second time, and the totals have both', async (t) => {
    const { host, item } = await failedRun(t);
    const replayed = await host.call('POST', `/api/inbox/${item}/replay`, {});
    assert.equal(replayed.status, 200, replayed.text);

    assert.equal((await ended(host, 'done')).reason, null);
    assert.equal((await runsOf(host)).length, 1);
    const { text } = await host.call('GET', '/api/metrics');
    for (const outcome of ['failed', 'done'])
      assert.match(text, new RegExp(`^svc_job_runs_total\\{job="tidy",outcome="${outcome}".*\\} 1$`, 'm'));
  });

  it('does so where all dead letters were replayed while the host was down', async (t) => {
    const { host, item } = await failedRun(t);
    await host.app.stop(2_000);
    const { project } = host;
    const stored = openStoredItems({ project: project.path, environment: project.env });
    const selection = { state: 'dead', upTo: new Date(Date.now() + 60_000).toISOString() } as const;
    await stored?.changeMany('inbox', selection, { action: 'replay' });
    assert.equal((await stored?.show('inbox', item))?.['state'], 'received');

    await ended(await running(t, { project }), 'done');
  });
});
