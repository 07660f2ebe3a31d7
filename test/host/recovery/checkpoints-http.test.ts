// Checkpoints of a running host over HTTP: made while it serves, told by events, shown without texts to demo scope.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { checkpointFolder, verificationFile } from '../../../shared/recovery/layout.ts';
import { readManifest } from '../../../shared/recovery/manifest.ts';
import { openReadOnly } from '../../../worker/database/sqlite/connection.ts';
import { HTTP, type Running, running } from '../../support/hosts/app-host.ts';
import { temporaryProject } from '../../support/temporary-project.ts';
import { until } from '../../support/until.ts';

const DEMO = 'demo-token-0123456789abcdef';

interface Listed {
  readonly checkpoints: readonly Record<string, unknown>[];
  readonly running: unknown;
  readonly last: Record<string, unknown> | null;
  readonly failure: Record<string, unknown> | null;
}

const listOf = async ({ call }: Running): Promise<Listed> =>
  (await call('GET', '/api/checkpoints')).json as unknown as Listed;

async function make(host: Running, body: object = {}): Promise<string> {
  const { status, json } = await host.call('POST', '/api/checkpoints', body);
  assert.equal(status, 202, JSON.stringify(json));
  await until(async () => (await listOf(host)).running === null, { what: 'the end of the checkpoint' });
  return String(json['name']);
}

async function eventsOf({ call }: Running): Promise<Record<string, unknown>[]> {
  const { json } = await call('GET', '/api/events?format=json&types=checkpoint.*&limit=100');
  return (json['events'] ?? json['items']) as Record<string, unknown>[];
}

describe('a checkpoint of a running host', () => {
  it('holds what was committed, and tells its end as an event', async (t) => {
    const host = await running(t);
    await host.call('PUT', '/api/system/ingress', { state: 'paused', reason: 'for a test' });

    const name = await make(host, { reason: 'before the move' });

    const { checkpoints, last, failure } = await listOf(host);
    assert.deepEqual(failure, null, JSON.stringify(failure));
    assert.deepEqual(
      [name, checkpoints.length, checkpoints[0]?.['reason'], last?.['name']],
      ['c1', 1, 'before the move', 'c1'],
    );
    const folder = checkpointFolder(host.project.path, name);
    const manifest = readManifest(folder);
    assert.equal(manifest.config.isRunning, true);
    const copy = openReadOnly(join(folder, 'data.sqlite'));
    const { head } = copy.prepare("SELECT max(seq) AS head FROM event_log WHERE type = 'ingress.paused'").get() as {
      head: number;
    };
    copy.close();
    assert.ok(head > 0 && head <= manifest.events.head);
    const [event] = await eventsOf(host);
    assert.deepEqual(
      [event?.['type'], event?.['subject'], event?.['actor']],
      ['checkpoint.created', 'c1', 'token:full'],
    );
    const status = (await host.call('GET', '/api/system/status')).json['checkpoint'] as Record<string, unknown>;
    assert.deepEqual([status['name'], status['level'], status['verifiedAt']], ['c1', 'made', null]);
    const metrics = (await host.call('GET', '/api/metrics')).text;
    assert.match(metrics, /svc_checkpoint_age_seconds\{[^}]*\} \d/);
    assert.match(metrics, /svc_checkpoint_failures_total\{[^}]*code="refused"[^}]*\} 0/);
    const never = Number(/^svc_checkpoint_verified_seconds\{[^}]*\} (\S+)$/m.exec(metrics)?.[1]);
    const age = Number(/^svc_checkpoint_age_seconds\{[^}]*\} (\S+)$/m.exec(metrics)?.[1]);
    assert.ok(never >= age, 'the time since the project began, while no checkpoint was rehearsed');
  });

  it('says that files differ from what the host has loaded', async (t) => {
    const host = await running(t);
    host.configure({ log_level: 'debug' });

    assert.equal(readManifest(checkpointFolder(host.project.path, await make(host))).config.isRunning, false);
    assert.deepEqual((await listOf(host)).last?.['warnings'], [
      'the host runs with other files than this checkpoint has: svc.config.yml; svc runtime restart takes them in',
    ]);
  });

  it('fails with file and line where code holds a secret, and leaves nothing', async (t) => {
    const host = await running(t);
    host.project.write('notes/todo.md', `one\ncurl -H "Bearer ${host.project.token}"\n`);

    const name = await make(host);

    const { checkpoints, failure } = await listOf(host);
    assert.deepEqual([checkpoints, failure?.['name'], failure?.['code']], [[], name, 'refused']);
    assert.match(String(failure?.['message']), /^notes\/todo\.md:2 holds a secret/);
    const [event] = await eventsOf(host);
    assert.deepEqual([event?.['type'], event?.['data']], ['checkpoint.failed', { name, code: 'refused' }]);
  });

  it('whose rehearsal failed stands in status and metrics, in words for full scope alone', async (t) => {
    const project = temporaryProject(t, {
      config: { http: { ...HTTP, demoToken: '$'.concat('{DEMO_TOKEN}') } },
      env: { DEMO_TOKEN: DEMO },
    });
    const host = await running(t, { project });
    for (const _ of [1, 2]) await make(host);
    const note = (name: string, faults: readonly string[]): void => {
      const result = {
        at: new Date().toISOString(),
        level: 'rehearsed',
        ok: faults.length === 0,
        ms: 1,
        svc: '1',
        faults,
      };
      writeFileSync(verificationFile(project.path, name), JSON.stringify(result));
    };
    const statusFor = async (token: string): Promise<unknown> => {
      const url = `http://127.0.0.1:${host.app.address()?.port}/api/system/status`;
      const response = await fetch(url, { headers: { authorization: `Bearer ${token}` } });
      const { name, level, fault, failed, good } = ((await response.json()) as { checkpoint: Record<string, unknown> })
        .checkpoint;
      return [name, level, fault, failed, good];
    };
    const failedMetric = async (): Promise<string | undefined> =>
      /^svc_checkpoint_failed\{[^}]*\} (\d)$/m.exec((await host.call('GET', '/api/metrics')).text)?.[1];

    note('c1', []);
    const before = await failedMetric();
    note('c2', ['jobs.json: of a private matter']);

    assert.deepEqual(await statusFor(project.token), ['c2', 'failed', 'jobs.json: of a private matter', 'c2', 'c1']);
    assert.deepEqual(await statusFor(DEMO), ['c2', 'failed', 'failed', 'c2', 'c1']);
    assert.deepEqual([before, await failedMetric()], ['0', '1']);
  });

  it('is one at a time', async (t) => {
    const host = await running(t);

    const answers = await Promise.all([1, 2].map(() => host.call('POST', '/api/checkpoints', {})));
    await until(async () => (await listOf(host)).running === null, { what: 'the end of the checkpoint' });

    assert.deepEqual(
      answers.map(({ status }) => status).toSorted((a, b) => a - b),
      [202, 409],
    );
    assert.equal((await listOf(host)).checkpoints.length, 1);
  });

  it('is made once for an Idempotency-Key', async (t) => {
    const host = await running(t);
    const port = host.app.address()?.port ?? 0;
    const ask = async (): Promise<unknown> => {
      const response = await fetch(`http://127.0.0.1:${port}/api/checkpoints`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${host.project.token}`,
          'content-type': 'application/json',
          'idempotency-key': 'one',
        },
        body: '{}',
      });
      return [response.status, await response.json()];
    };

    const answers = [await ask(), await ask()];
    await until(async () => (await listOf(host)).running === null, { what: 'the end of the checkpoint' });

    assert.deepEqual(answers, [
      [202, { name: 'c1' }],
      [202, { name: 'c1' }],
    ]);
    assert.equal((await listOf(host)).checkpoints.length, 1);
  });

  it('shows demo scope no reason, no target, no name of a secret', async (t) => {
    const project = temporaryProject(t, {
      config: { http: { ...HTTP, demoToken: '$'.concat('{DEMO_TOKEN}') } },
      env: { DEMO_TOKEN: DEMO },
    });
    const host = await running(t, { project });
    writeFileSync(join(project.path, 'README.md'), 'hello');
    await make(host, { reason: 'a private matter' });
    const port = host.app.address()?.port ?? 0;
    const ask = async (path: string): Promise<string> => {
      const response = await fetch(`http://127.0.0.1:${port}${path}`, { headers: { authorization: `Bearer ${DEMO}` } });
      assert.equal(response.status, 200);
      return response.text();
    };

    for (const path of ['/api/checkpoints', '/api/checkpoints/c1', '/api/events?format=json&types=checkpoint.*'])
      assert.doesNotMatch(await ask(path), /private|HTTP_TOKEN|targets/, path);
    assert.match((await host.call('GET', '/api/checkpoints/c1')).text, /a private matter.*HTTP_TOKEN/s);
    assert.equal((await host.call('GET', '/api/checkpoints/c9')).status, 404);
  });
});
