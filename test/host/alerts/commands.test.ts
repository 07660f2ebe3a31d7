// `svc alerts` and `/api/alerts` on a whole host, whose database has an alert that fires.
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { parse } from 'yaml';
import { ACTIVE_RULES } from '../../../shared/alerts/rules.ts';
import { Sqlite } from '../../../shared/sqlite.ts';
import { commands } from '../../../supervisor/cli/commands/alerts.ts';
import { fakeAlerts } from '../../support/alerts/fake-alerts.ts';
import { capturedContext } from '../../support/commands/cli-context.ts';
import { createHostClient } from '../../support/hosts/app-client.ts';
import { HTTP, type Running, running } from '../../support/hosts/app-host.ts';
import { temporaryProject } from '../../support/temporary-project.ts';
import { until } from '../../support/until.ts';

const DEMO_TOKEN = 'demo-token-0123456789abcdef';
const FIRES = {
  name: 'SvcEndpointOffline',
  key: 'root/irc:irc~libera',
  labels: JSON.stringify({ endpoint: 'root/irc:irc~libera' }),
  at: Date.now() - 3_600_000,
};

const config = (alerts: object) => ({
  host: { name: 'test' },
  http: { ...HTTP, demoToken: '$'.concat('{DEMO_TOKEN}') },
  plugins: { sandbox: {} },
  alerts,
});

async function firing(t: TestContext, alerts: object = {}): Promise<Running> {
  const project = temporaryProject(t, { config: config(alerts) });
  Object.assign(project.env, { DEMO_TOKEN });
  const first = await running(t, { project });
  await first.app.stop(2_000);
  const database = new Sqlite(project.paths.database);
  database
    .prepare(
      "INSERT INTO alerts VALUES (@name, @key, @labels, 'warning', 'firing', @at, @at, NULL, 0, 'firing', @at, '[]', 0)",
    )
    .run(FIRES);
  database.close();
  return running(t, { project });
}

function cli(host: Running) {
  return async (verb: string | undefined, args: readonly string[] = [], options: object = {}, json = false) => {
    const captured = capturedContext('http://127.0.0.1:1', { json });
    const command = commands.find((one) => one.verb === verb);
    assert.ok(command !== undefined);
    const context = {
      ...captured,
      env: host.project.env,
      project: () => host.project.path,
      host: async () => createHostClient(host),
    };
    const code = await command.run(context, args, options as Readonly<Record<string, unknown>>);
    return { code, out: captured.out, notes: captured.notes, documents: captured.documents };
  };
}

const demo = async (host: Running, method: string, path: string) => {
  const response = await fetch(`http://127.0.0.1:${host.app.address()?.port}${path}`, {
    method,
    headers: { authorization: `Bearer ${DEMO_TOKEN}`, 'content-type': 'application/json' },
    ...(method === 'GET' ? {} : { body: '{}' }),
  });
  return { status: response.status, text: await response.text() };
};

describe('svc alerts', () => {
  it('says what fires with its remedy, and ends with 1 until it is silenced', async (t) => {
    const host = await firing(t);
    const svc = cli(host);
    const shown = await svc(undefined);

    assert.equal(shown.code, 1);
    assert.equal(shown.out[0], 'warning SvcEndpointOffline:root/irc:irc~libera: root/irc:irc~libera is offline');
    assert.match(shown.out[2] ?? '', /svc endpoints reconnect root\/irc:irc~libera/);
    assert.ok(
      shown.notes.some((note) => note.includes('alerts.notify')),
      shown.notes.join(),
    );

    const name = 'SvcEndpointOffline:root/irc:irc~libera';
    const silenced = await svc('silence', [name], { for: '2h', reason: 'moves' });
    assert.equal(silenced.code, 0);
    assert.match(silenced.out[0] ?? '', /^silenced until /);
    const quiet = await svc(undefined, [], {}, true);
    assert.equal(quiet.code, 0);
    const [document] = quiet.documents as [{ firing: number; alerts: { silenced: boolean }[]; silences: object[] }];
    assert.deepEqual([document.firing, document.alerts[0]?.silenced], [0, true]);
    assert.deepEqual(
      document.silences.map((one) => ({ ...one, until: '' })),
      [{ name: FIRES.name, key: FIRES.key, until: '', reason: 'moves', by: 'token:full' }],
    );

    assert.equal((await svc('unsilence', [name])).code, 0);
    assert.equal((await svc(undefined)).code, 1);
    await assert.rejects(svc('unsilence', [name]), { code: 'not_found' });
    await assert.rejects(svc('silence', ['SvcEndpointOfline'], { for: '2h', reason: 'x' }), /did you mean|is no rule/);
    await assert.rejects(svc('silence', [name], { for: '2h' }), { code: 'usage' });
    await assert.rejects(svc('silence', ['backlog'], { for: '2h', reason: 'x' }), /backlog is no rule/);
    const { items } = (await host.call('GET', '/api/events?format=json&types=alert.*')).json as {
      items: { type: string; actor: string; data: object }[];
    };
    assert.deepEqual(
      items.map(({ type, actor }) => [type, actor]),
      [
        ['alert.silenced', 'token:full'],
        ['alert.silenced', 'token:full'],
      ],
    );
  });

  it('refuses a silence that could never keep anything untold', async (t) => {
    const svc = cli(await firing(t));
    const silence = (name: string) => svc('silence', [name], { for: '2h', reason: 'x' });

    await assert.rejects(silence('SvcBacklog:sandbox'), { code: 'refused', hint: '`svc alerts silence SvcBacklog`' });
    await assert.rejects(silence('SvcEndpointOffline:sandbx'), { code: 'not_found', message: /no account sandbx/ });
    await assert.rejects(silence('SvcDown'), { code: 'refused', message: /Prometheus alone/ });
    const { out } = await silence('SvcEndpointOffline:sandbox');
    assert.match(out[0] ?? '', /: SvcEndpointOffline:root\/sandbox:sandbox;/);
    const job = await silence('SvcJobsMissed:sandbox'); // a job may have the name of an account
    assert.match(job.out[0] ?? '', /: SvcJobsMissed:sandbox;/);
    assert.equal((await svc('unsilence', ['SvcJobsMissed:sandbox'])).code, 0);
  });

  it('shows alerts without reasons to the demo token, which changes nothing', async (t) => {
    const host = await firing(t);
    await host.call('POST', '/api/alerts/silence', {
      name: 'SvcBacklog',
      until: new Date(Date.now() + 60_000).toISOString(),
      reason: 'a secret matter',
    });
    const seen = await demo(host, 'GET', '/api/alerts');

    assert.equal(seen.status, 200);
    assert.match(seen.text, /SvcEndpointOffline/);
    assert.match(seen.text, /SvcBacklog/);
    assert.doesNotMatch(seen.text, /secret matter|token:full/);
    for (const path of ['silence', 'unsilence', 'test'])
      assert.equal((await demo(host, 'POST', `/api/alerts/${path}`)).status, 403, path);
    assert.equal(
      (
        await host.call('POST', '/api/alerts/silence', {
          name: 'SvcBacklog',
          until: '2020-01-01T00:00:00Z',
          reason: 'x',
        })
      ).status,
      400,
    ); // prettier-ignore
  });

  it('sends a test message through the accounts of alerts.notify', async (t) => {
    const host = await firing(t, { notify: [{ endpoint: 'sandbox', conversation: 'ops' }] });
    const svc = cli(host);
    const sent = await svc('test', [], {}, true);
    const [{ sends }] = sent.documents as [{ sends: { id: string; endpoint: string; conversation: string }[] }];

    assert.deepEqual(
      sends.map(({ endpoint, conversation }) => [endpoint, conversation]),
      [['root/sandbox:sandbox', 'ops']],
    );
    const item = await until(
      async () => {
        const { json } = await host.call('GET', `/api/outbox/${sends[0]?.id}`);
        return json['state'] === 'sent' ? json : undefined;
      },
      { what: 'the test message to be sent' },
    );
    assert.match(JSON.stringify(item), /TEST/);
    const { items } = (await host.call('GET', '/api/events?format=json&types=alert.tested')).json as {
      items: { actor: string; data: object }[];
    };
    assert.deepEqual(
      items.map(({ actor, data }) => [actor, data]),
      [['token:full', { sends: 1 }]],
    );
    await assert.rejects(svc('test', [], { to: 'irc~libera' }), { code: 'refused' });
  });

  it('shows what an alert means and what to do, of the project or of svc, and needs no host', async (t) => {
    const project = temporaryProject(t, { config: config({}) });
    const svc = cli({ project } as Running);
    for (const { name } of ACTIVE_RULES) {
      const { out } = await svc('show', [name]);
      assert.match(out.join('\n'), new RegExp(`^## ${name}\\n[^]*\\*\\*Do\\.\\*\\*`));
      assert.equal(out.join('\n').split('## ').length, 2);
    }
    await assert.rejects(svc('show', ['SvcBaklog']), { code: 'not_found', hint: 'did you mean SvcBacklog?' });
    project.write('deploy/monitoring/runbook.md', '# Ours\n\n## SvcBacklog\n\nCall Ann.\n\n## SvcErrors\n\nRead.\n');
    assert.deepEqual((await svc('show', ['SvcBacklog'])).out, ['## SvcBacklog\n\nCall Ann.']);
    assert.deepEqual((await svc('show', ['SvcNotReady'], {}, true)).documents.length, 1);
  });

  it('names what it cannot evaluate, and does not call that quiet', async () => {
    const captured = capturedContext('http://127.0.0.1:1', {});
    const body = await fakeAlerts([]).list(true);
    const quiet = { ...body, firing: 0, alerts: [] };
    const host = async () => ({ request: async () => ({ body: quiet }) });
    const list = commands.find(({ verb }) => verb === undefined);
    const code = await list?.run({ ...captured, host } as unknown as Parameters<typeof list.run>[0], [], {});

    assert.equal(code, 1);
    assert.match(captured.out[0] ?? '', /^unknown SvcBacklog: svc_inbox_oldest_seconds cannot be read/);
    assert.ok(!captured.out.includes('nothing fires'));
  });

  it('lists the rules with the settings of the project, also as a file for Prometheus', async (t) => {
    const project = temporaryProject(t, {
      config: config({ rules: { SvcBacklog: { threshold: 60, for: '1m' }, SvcErrors: { enabled: false } } }),
    });
    Object.assign(project.env, { DEMO_TOKEN });
    const svc = cli({ project } as Running);
    const { out } = await svc('rules');
    const prometheus = parse((await svc('rules', [], { prometheus: true })).out.join('\n')) as {
      groups: { rules: { alert: string; expr: string; for?: string }[] }[];
    };
    const names = prometheus.groups[0]?.rules.map(({ alert }) => alert) ?? [];

    assert.ok(
      out.some((line) => line.startsWith('SvcBacklog | warning | 1m | 60 | ')),
      out.join('\n'),
    );
    assert.ok(!out.some((line) => line.startsWith('SvcErrors')));
    assert.ok(names.includes('SvcDown') && !names.includes('SvcErrors'));
    assert.match(
      JSON.stringify(prometheus.groups[0]?.rules.find(({ alert }) => alert === 'SvcBacklog')),
      /> 60 .*"1m"/,
    );
  });
});

describe('the configuration of alerts', () => {
  it('is refused with line and remedy where it names what is not there', async (t) => {
    const project = temporaryProject(t, {
      config: config({
        notify: [{ endpoint: 'sandbx', conversation: 'ops' }],
        rules: { SvcBaklog: { threshold: 1 }, SvcDown: { enabled: false } },
      }),
    });
    Object.assign(project.env, { DEMO_TOKEN });
    const svc = cli({ project } as Running);

    await assert.rejects(svc('rules'), (error: Error) => {
      const text = `${error.message} ${JSON.stringify(error)}`;
      assert.match(
        text,
        /alerts\.notify\[0\]\.endpoint .*no slot of `plugins` has that account.*did you mean sandbox/s,
      );
      assert.match(text, /SvcBaklog is no rule.*did you mean SvcBacklog/s);
      assert.match(text, /SvcDown is for Prometheus alone/);
      return true;
    });
  });
});
