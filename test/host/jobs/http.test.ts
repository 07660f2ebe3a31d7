// Jobs over HTTP, on a whole host: the file is written for the client, and never over an edit by hand.
import assert from 'node:assert/strict';
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { HTTP, type Running, running } from '../../support/hosts/app-host.ts';
import { temporaryProject } from '../../support/temporary-project.ts';
import { until } from '../../support/until.ts';

const DO = { say: { to: { endpoint: 'sandbox', conversation: 'ann' }, text: 'hello' } };
const DEMO_TOKEN = 'demo-token-0123456789abcdef';
const YEARLY = { cron: '0 0 1 1 *', do: DO };
const fileOf = ({ project }: Running): string => join(project.path, 'data', 'schedule-jobs.json');

async function put(host: Running, id: string, entry: unknown, headers: Readonly<Record<string, string>> = {}) {
  const response = await fetch(`http://127.0.0.1:${host.app.address()?.port}/api/jobs/${id}`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${host.project.token}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(entry),
  });
  return {
    status: response.status,
    json: (await response.json()) as Record<string, never>,
    etag: response.headers.get('etag'),
  };
}

describe('jobs over HTTP', () => {
  it('are added, shown, run by hand, paused and removed', async (t) => {
    const host = await running(t);

    assert.deepEqual((await host.call('GET', '/api/jobs')).json['jobs'], []);
    assert.equal((await put(host, 'tea', YEARLY)).status, 201);
    assert.deepEqual(JSON.parse(readFileSync(fileOf(host), 'utf8')).jobs, [{ ...YEARLY, id: 'tea' }]);
    assert.equal(statSync(fileOf(host)).mode & 0o777, 0o600);
    const { status, json } = await host.call('POST', '/api/jobs/tea/run', {});
    assert.equal(status, 202);
    const run = await until(
      async () => {
        const { runs } = (await host.call('GET', '/api/jobs/tea/runs')).json as {
          runs: { runId: string; state: string }[];
        };
        return runs.find((one) => one.state === 'done');
      },
      { what: 'the end of the run' },
    );
    assert.equal(run.runId, json['runId']);
    assert.equal((await host.call('POST', '/api/jobs/tea/pause', {})).json['paused'], true);
    assert.equal((await host.call('POST', '/api/jobs/tea/resume', {})).json['paused'], false);
    assert.equal((await host.call('DELETE', '/api/jobs/tea')).status, 204);
    assert.equal((await host.call('GET', '/api/jobs/tea')).status, 404);
    assert.match((await host.call('GET', '/api/metrics')).text, /svc_job_runs_total\{.*job="tea",outcome="done".*\} 1/);
  });

  it('name every fault of a job with its path', async (t) => {
    const host = await running(t);

    const { status, json } = await put(host, 'tea', { cron: '0 25 * * *', do: { agent: {} }, mised: 'skip' });

    assert.equal(status, 400);
    const { faults } = (json as unknown as { details: { faults: { path: string; message: string }[] } }).details;
    assert.deepEqual(faults.map(({ path }) => path).toSorted(), ['/do/agent', '/mised']);
    assert.match(JSON.stringify(faults), /no agents; use say, command or item/);
    assert.match(JSON.stringify(faults), /did you mean missed/);
    const { json: late } = await put(host, 'tea', { at: '2020-01-01T00:00Z', do: DO });
    assert.match(JSON.stringify(late), /"path":"\/at","message":"is in the past"/);
    const { json: cron } = await put(host, 'tea', { cron: '0 25 * * *', do: DO });
    assert.match(JSON.stringify(cron), /"path":"\/cron"/);
  });

  it('refuse a job with which the file would be too large to be taken in', async (t) => {
    const host = await running(t);
    const say = { say: { ...DO.say, text: 'x'.repeat(16_000) } };
    const jobs = Array.from({ length: 65 }, (_, n) => ({ id: `j${n}`, ...YEARLY, do: say }));
    mkdirSync(join(host.project.path, 'data'), { recursive: true });
    writeFileSync(fileOf(host), JSON.stringify({ version: 1, revision: 1, jobs }));
    await until(async () => (await host.call('GET', '/api/jobs')).text.includes('j64'), { what: 'the file' });

    const { status } = await put(host, 'more', { ...YEARLY, do: say });

    assert.equal(status, 409);
    assert.equal((await host.call('GET', '/api/jobs/j1')).status, 200);
    assert.equal((await put(host, 'j1', YEARLY)).status, 200);
  });

  it('refuse a change on another revision, and take an edit by hand in first', async (t) => {
    const host = await running(t);
    const { etag } = await put(host, 'tea', YEARLY);
    const text = readFileSync(fileOf(host), 'utf8');
    writeFileSync(fileOf(host), text.replace('hello', 'by hand')); // the revision stays

    assert.equal((await put(host, 'coffee', YEARLY)).status, 409);
    assert.match(readFileSync(fileOf(host), 'utf8'), /by hand/);
    const now = await host.call('GET', '/api/jobs/tea');
    assert.match(now.text, /by hand/);
    assert.notEqual(now.headers.get('etag'), etag);
    assert.equal((await put(host, 'coffee', YEARLY, { 'if-match': etag ?? '' })).status, 412);
    assert.equal((await put(host, 'coffee', YEARLY, { 'if-match': now.headers.get('etag') ?? '' })).status, 201);
  });

  it('keep the mode of the file and a link to it', async (t) => {
    const host = await running(t);
    await put(host, 'tea', YEARLY);
    mkdirSync(join(host.project.path, 'kept'));
    const target = join(host.project.path, 'kept', 'jobs.json');
    renameSync(fileOf(host), target);
    symlinkSync(target, fileOf(host));
    chmodSync(target, 0o640);
    await until(async () => (await host.call('POST', '/api/jobs/tea/pause', {})).status === 200, {
      what: 'the change',
    });

    assert.ok(lstatSync(fileOf(host)).isSymbolicLink());
    assert.match(readFileSync(target, 'utf8'), /"paused": true/);
    assert.equal(statSync(target).mode & 0o777, 0o640);
  });

  it('show demo scope neither action nor title nor reason', async (t) => {
    const host = await running(t, {
      // biome-ignore lint/suspicious/noTemplateCurlyInString: a reference of the configuration
      project: temporaryProject(t, { config: { http: { ...HTTP, demoToken: '${DEMO_TOKEN}' } }, env: { DEMO_TOKEN } }),
    });
    await put(host, 'tea', { ...YEARLY, title: 'Tea time', 'x-owner': 'ann' });
    const response = await fetch(`http://127.0.0.1:${host.app.address()?.port}/api/jobs`, {
      headers: { authorization: `Bearer ${DEMO_TOKEN}` },
    });
    const text = await response.text();

    assert.equal(response.status, 200, text);
    assert.match(text, /"id":"tea"/);
    assert.doesNotMatch(text, /hello|Tea time|ann/);
  });
});
