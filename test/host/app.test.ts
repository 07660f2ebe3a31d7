// The whole host in this process, on a port of its own: reload, restart, metrics, disk budget, stop.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { startWriterThread } from '../../worker/database/sqlite/start-thread.ts';
import { documentCheck } from '../support/document-check.ts';
import { HTTP, running } from '../support/hosts/app-host.ts';
import { temporaryProject } from '../support/temporary-project.ts';
import { until } from '../support/until.ts';

describe('database.filename', () => {
  it('may be a path from the root', async (t) => {
    const file = join(temporaryProject(t).path, 'apart.sqlite');

    const { app } = await running(t, { config: { http: HTTP, database: { dialect: 'sqlite', filename: file } } });

    assert.equal(app.address() === undefined, false);
    assert.equal(existsSync(file), true);
  });
});

describe('a database file', () => {
  it('that is written over in place with an older copy begins a new timeline of events, and keeps it', async (t) => {
    const { project, app } = await running(t);
    const life = async (): Promise<string> => {
      const host = await running(t, { project });
      const { epoch } = (await host.call('GET', '/api/events?format=json&limit=1')).json;
      await host.app.stop(10_000);
      return String(epoch);
    };
    await app.stop(10_000);
    const copy = readFileSync(project.paths.database);
    const before = await life();

    writeFileSync(project.paths.database, copy);
    const epochs = [await life(), await life()];

    assert.notEqual(epochs[0], before);
    assert.equal(epochs[1], epochs[0]);
  });
});

describe('a reload over HTTP', () => {
  it('answers with the number, or 409 with the reasons; the old one serves on', async (t) => {
    const host = await running(t);
    const good = await host.call('POST', '/api/system/reload', {});

    host.configure({ plugins: { sandbox: {}, nowhere: {} } });
    const bad = await host.call('POST', '/api/system/reload', {});
    host.configure({ http: { ...HTTP, base: '/bots' } });
    const fixed = await host.call('POST', '/api/system/reload', {});

    assert.equal(good.json['generation'], 2);
    assert.deepEqual([bad.status, bad.json['code']], [409, 'reload_refused']);
    assert.match(bad.text, /nowhere/);
    assert.deepEqual([fixed.status, fixed.json['code']], [409, 'restart_required']);
    assert.match(fixed.text, /http\.base/);
    assert.equal((await host.call('GET', '/api/system/status')).json['generation'], 2);
    assert.deepEqual(host.exits, []);
  });

  it('ends with 75 where it is asked to', async (t) => {
    const host = await running(t);
    host.configure({ http: { ...HTTP, base: '/bots' } });

    await assert.rejects(host.app.reload('test', { orRestart: true }), { code: 'restart_required' });

    assert.deepEqual(
      host.exits.map(([code]) => code),
      [75],
    );
  });

  it('after the lockfile changed in watch mode is a restart', async (t) => {
    const host = await running(t, { mode: 'development', watch: true });

    // The watcher does not see a change of the very moment at which it begins.
    let version = 3;
    await until(
      () => {
        host.project.write('package-lock.json', JSON.stringify({ lockfileVersion: (version += 1) }));
        return host.exits.length > 0;
      },
      { what: 'the restart', everyMs: 400 },
    );
    assert.equal(host.exits[0]?.[0], 75);
  });
});

describe('restart and stop', () => {
  it('refuses a restart that nobody would make, and asks for one that an owner makes', async (t) => {
    const alone = await running(t);
    const owned = await running(t, { owner: 'daemon' });

    const refused = await alone.call('POST', '/api/system/restart', {});
    const taken = await owned.call('POST', '/api/system/restart', {});
    await until(() => owned.exits.length > 0, { what: 'the exit' });

    assert.deepEqual([refused.status, refused.json['code'], alone.exits], [409, 'no_restart_owner', []]);
    assert.deepEqual([taken.status, owned.exits[0]?.[0]], [202, 51]);
  });

  it('refuses a restart, and a reload that would become one, over a configuration that no worker would start with', async (t) => {
    const host = await running(t, { owner: 'daemon' });
    const restart = () => host.call('POST', '/api/system/restart', {});

    host.configure({ no_such_key: 1 });
    const unknown = await restart();
    host.configure({ http: { ...HTTP, base: '/bots' }, plugins: { remind: { maxDays: 'many' } } });
    const ofPlugin = await restart();

    assert.deepEqual([unknown.status, unknown.json['code']], [409, 'restart_refused']);
    assert.match(unknown.text, /svc\.config\.yml:\d+:\d+ no_such_key/);
    assert.deepEqual([ofPlugin.status, ofPlugin.json['code']], [409, 'restart_refused']);
    assert.match(ofPlugin.text, /plugins\.remind\.maxDays/);
    await assert.rejects(host.app.reload('test', { orRestart: true }), { code: 'reload_refused', message: /maxDays/ });
    assert.deepEqual([host.exits, (await host.call('GET', '/pub/ready')).status], [[], 200]);
  });

  it('judges keys of plugins whose code has changed by that code, not by what it has loaded', async (t) => {
    const host = await running(t, { owner: 'daemon' });
    host.configure({ plugins: { remind: { maxDays: 'many' } } });
    host.project.write('package-lock.json', '{"lockfileVersion": 3, "changed": true}');

    const { status, json } = await host.call('POST', '/api/system/restart', {});
    host.configure({ plugins: { remind: { maxDays: 3 } } });
    const mended = await host.call('POST', '/api/system/restart', {});

    assert.deepEqual([status, json['code'], json['details']], [409, 'restart_refused', { reason: 'config_invalid' }]);
    assert.equal(mended.status, 202);
  });

  it('refuses a restart that systemd would count as one failure too many, and says when to come back', async (t) => {
    const project = temporaryProject(t);
    const asked: number[] = [];
    for (let start = 1; start <= 4; start += 1) {
      const host = await running(t, { project, owner: 'systemd' });
      const { status, headers, json } = await host.call('POST', '/api/system/restart', {});
      asked.push(status);
      if (status === 429) {
        const seconds = Number(headers.get('retry-after'));
        assert.ok(seconds > 0 && seconds <= 120, `comes back in ${seconds} s`);
        assert.equal(json['code'], 'too_many_requests');
      } else await until(() => host.exits.length > 0, { what: 'the exit' });
      await host.app.stop(2_000);
    }

    assert.deepEqual(asked, [202, 202, 202, 429]);
  });

  it('tells of the start before it in the status, and of the first one nothing', async (t) => {
    const project = temporaryProject(t);
    const first = await running(t, { project });
    const before = (await first.call('GET', '/api/system/status')).json;
    const figures = (await first.call('GET', '/api/metrics')).text;
    await first.app.stop(2_000);

    const second = await running(t, { project, previous: { end: 'crashed', code: 1, signal: null, detail: 'x' } });
    const after = (await second.call('GET', '/api/system/status')).json;

    assert.deepEqual([before['restarts'], before['lastExits']], [0, []]);
    assert.doesNotMatch(figures, /^svc_restarts_total\{.*\} [1-9]/m);
    assert.equal(after['restarts'], 1);
    assert.deepEqual(
      (after['lastExits'] as { end: string; code: number }[]).map(({ end, code }) => [end, code]),
      [['crashed', 1]],
    );
    assert.equal(after['generation'], 2);
    assert.match((await second.call('GET', '/api/metrics')).text, /svc_restarts_total\{[^}]*reason="crashed"[^}]*\} 1/);
  });

  it('drains, names nothing when nothing was cut, and leaves one file of the database', async (t) => {
    const host = await running(t);
    await host.call('POST', '/api/chat/say', { person: 'ann', text: '/ping', delivery: randomUUID() });

    const [end, again] = await Promise.all([host.app.stop(30_000), host.app.stop(1)]);

    assert.deepEqual(end, { cut: [] });
    assert.equal(again, end);
    await assert.rejects(fetch(`http://127.0.0.1:${host.app.address()?.port}/pub/health`));
  });
});

describe('the thread of the writer', () => {
  it('that is gone cannot be replaced: nothing is taken, and the worker ends with 75', async (t) => {
    const thread = startWriterThread();
    const host = await running(t, { writerThread: thread });
    const say = () => host.call('POST', '/api/chat/say', { person: 'ann', text: 'hi', delivery: randomUUID() });
    const before = await say();

    await thread.terminate();
    await until(() => host.exits.length > 0, { what: 'the exit' });

    assert.deepEqual([before.status, (await say()).status], [202, 503]);
    assert.deepEqual(
      host.exits.map(([code]) => code),
      [75],
    );
    assert.match(host.exits[0]?.[1] ?? '', /the writer thread ended/);
  });
});

describe('metrics', () => {
  it('are valid text, carry the project, and have the promised names', async (t) => {
    const host = await running(t);
    await host.call('POST', '/api/chat/say', { person: 'ann', text: '/ping', delivery: randomUUID() });

    const { text, headers } = await host.call('GET', '/api/metrics');

    assert.match(headers.get('content-type') ?? '', /^text\/plain; version=0\.0\.4/);
    const samples = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
    for (const line of samples)
      assert.match(line, /^[a-z_][a-z0-9_]*\{[^\n]*project="test"[^\n]*\} (-?[0-9.e+-]+|NaN|\+Inf)$/, line);
    const names = new Set(samples.map((line) => line.slice(0, line.indexOf('{'))));
    const wanted = [
      'svc_build_info',
      'svc_ready',
      'svc_generation',
      'svc_endpoint_online',
      'svc_sse_clients',
      'svc_log_messages_total',
      'svc_database_bytes',
      'svc_disk_free_bytes',
      'svc_inbox_pending',
      'svc_inbox_oldest_seconds',
      'svc_outbox_pending',
      'svc_outbox_dead',
      'svc_event_loop_lag_seconds',
    ];
    assert.deepEqual(
      wanted.filter((name) => !names.has(name)),
      [],
    );
    for (const name of ['svc_database_bytes', 'svc_disk_free_bytes', 'svc_state_bytes'])
      assert.match(text, new RegExp(`${name}\\{[^}]*\\} [1-9]`));
    for (const name of ['svc_restarts_total', 'svc_sse_gaps_total', 'svc_webhooks_total'])
      assert.match(text, new RegExp(`# TYPE ${name} counter`));
  });
});

describe('the document of the interface', () => {
  it('names every field that is answered, to either scope', async (t) => {
    const demo = 'demo-token-0123456789abcdef';
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a reference of the configuration
    const config = { http: { ...HTTP, demoToken: '${DEMO_TOKEN}' } };
    const host = await running(t, { project: temporaryProject(t, { config, env: { DEMO_TOKEN: demo } }) });
    await host.call('POST', '/api/chat/say', { person: 'ann', text: '/ping', delivery: randomUUID() });
    const itemsOf = async (store: string) =>
      (await host.call('GET', `/api/${store}`)).json['items'] as { readonly id: string; readonly state: string }[];
    const [sent] = await until(
      async () => {
        const items = await itemsOf('outbox');
        return items[0]?.state === 'sent' ? items : undefined;
      },
      { what: 'the answer' },
    );
    const [done] = await itemsOf('inbox');
    const faultOf = documentCheck((await host.call('GET', '/api/openapi.json')).text);
    const asked: readonly [string, string][] = [
      ...['/system/status', '/system/ingress', '/endpoints', '/plugins', '/inbox', '/outbox'].map(
        (path): [string, string] => [`/api${path}`, `/api${path}`],
      ),
      ['/api/events', '/api/events?format=json'],
      ['/api/endpoints/{id}', '/api/endpoints/sandbox'],
      ['/api/inbox/{id}', `/api/inbox/${done?.id}`],
      ['/api/outbox/{id}', `/api/outbox/${sent?.id}`],
      ['/api/config', '/api/config'],
      ['/api/chat/messages', '/api/chat/messages?person=ann'],
      ['/api/system/readiness', '/api/system/readiness'],
    ];

    for (const [route, path] of asked)
      for (const token of [host.project.token, demo]) {
        const response = await fetch(`http://127.0.0.1:${host.app.address()?.port}${path}`, {
          headers: { authorization: `Bearer ${token}` },
        });
        if (response.status !== 403) assert.equal(faultOf(route, await response.json()), '');
      }
  });
});

describe('the disk budget', () => {
  it('refuses deliveries and is not ready while it is used up, and is as before when there is room', async (t) => {
    const host = await running(t);
    const say = (): Promise<{ status: number; json: Record<string, unknown> }> =>
      host.call('POST', '/api/chat/say', { person: 'ann', text: 'hi', delivery: randomUUID() });
    assert.equal((await say()).status, 202);

    host.configure({ disk: { maxBytes: 64 * 1024 * 1024, minFreeBytes: 16 * 1024 ** 4 } });
    const reload = await host.call('POST', '/api/system/reload', {});
    const refused = await until(
      async () => {
        const answer = await say();
        return answer.status === 503 ? answer : undefined;
      },
      { what: 'the refusal' },
    );
    const unready = await host.call('GET', '/api/system/readiness');
    host.configure({});
    await host.call('POST', '/api/system/reload', {});
    await until(async () => (await say()).status === 202, { what: 'room again' });

    assert.equal(reload.status, 200, JSON.stringify(reload.json));
    assert.equal(refused.json['code'], 'disk_budget');
    assert.equal(unready.status, 503);
    const unmet = (unready.json['checks'] as Record<string, unknown>[]).filter((check) => check['ready'] === false);
    assert.deepEqual(
      unmet.map(({ component, check }) => [component, check]),
      [['database', 'initialized']],
    );
    assert.match(String(unmet[0]?.['reason']), /bytes are free, disk\.minFreeBytes asks for/);
    assert.equal((await host.call('GET', '/api/system/readiness')).status, 200);
  });
});
