// A host under a real Prometheus and a real Alertmanager: an account is cut, a message dies, a client misses events, the worker and then the
// whole host are killed. Each alert arrives at a receiver, and names project, account and process.
//
// Intervals and `for` are shortened. Expressions, labels, annotations, routes and inhibition are those of the pack.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { describe, it, type TestContext } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { parse } from 'yaml';
import { dashboard, dashboardQueries } from '../../../support/alerts/pack.ts';
import { deployFolder } from '../../../support/commands/deploy-run.ts';
import { guideLines } from '../../../support/deploy/guide-blocks.ts';
import { ToReady } from '../../../support/deploy/to-ready.ts';
import { FakeIrcServer } from '../../../support/fake-platforms/irc-server.ts';
import { wordsOf } from '../../../support/guide-commands.ts';
import { type ActingHost, actingHost } from '../../../support/hosts/acting-host.ts';
import {
  monitoringMissing,
  type SentAlert,
  startAlertmanager,
  startPrometheus,
} from '../../../support/monitoring/programs.ts';
import { runProgram } from '../../../support/process/run-program.ts';
import { svc } from '../../../support/svc-command.ts';
import { until } from '../../../support/until.ts';

const skip = monitoringMissing();
const REQUIRED = 'root/irc:irc~ops';
const OTHER = 'root/irc:irc~libera';

interface Received extends SentAlert {
  readonly receiver: string;
  readonly group: Readonly<Record<string, string>>;
}

/** A webhook that keeps what Alertmanager sends. */
async function startReceiver(t: TestContext) {
  const received: Received[] = [];
  const take = async (request: IncomingMessage): Promise<void> => {
    const {
      receiver,
      groupLabels: group,
      alerts,
    } = (await json(request)) as {
      readonly receiver: string;
      readonly groupLabels: Received['group'];
      readonly alerts: readonly SentAlert[];
    };
    received.push(...alerts.map((alert) => ({ ...alert, receiver, group })));
  };
  const server = createServer((request, response) => void take(request).finally(() => response.end()));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => void server.close());
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** Waits for the alert, which has to be of its project and go to the receiver of its severity. */
    async gets(name: string, labels: Readonly<Record<string, string>> = {}): Promise<Received> {
      const alert = await until(
        () =>
          received.find(
            (one) =>
              one.status === 'firing' &&
              one.labels['alertname'] === name &&
              Object.entries(labels).every(([label, value]) => one.labels[label] === value),
          ),
        { what: `${name} to arrive; there are ${received.map((one) => one.labels['alertname']).join(', ')}` },
      );
      assert.deepEqual(
        [alert.labels['project'], alert.group, alert.receiver],
        ['shop', { project: 'shop' }, alert.labels['severity']],
      );
      return alert;
    },
  };
}

async function startHost(t: TestContext, irc: FakeIrcServer): Promise<ActingHost> {
  const host = await actingHost(t);
  const account = { server: '127.0.0.1', port: irc.port, tls: false, channels: [] };
  const config = parse(host.project.read('svc.config.yml')) as { readonly http: object; readonly plugins: object };
  const endpoints = ['libera', 'ops'].map((id) => ({ id, nick: id, ...account }));
  host.project.write(
    'svc.config.yml',
    JSON.stringify({
      ...config,
      host: { name: 'shop' },
      http: { ...config.http, readiness: { endpoints: [{ owner: 'root/irc', name: 'irc~ops' }] } },
      plugins: { ...config.plugins, irc: { endpoints } },
      events: { history: { maxEvents: 100 } },
    }),
  );
  await host.start();
  return host;
}

async function typeIn(folder: string, line: string): Promise<void> {
  const [program = '', ...words] = wordsOf(line);
  const { code, stdout, stderr } = await (program === 'svc'
    ? svc(words, { cwd: folder })
    : runProgram(program, words, folder));
  assert.equal(code, 0, `${line}: ${stdout}${stderr}`);
}

/** The pack of that host, by the commands of the guide, and then made faster. */
async function packOf(t: TestContext, host: ActingHost, toReady: ToReady) {
  const folder = deployFolder(t, {
    config: JSON.stringify({ host: { name: 'shop' }, http: { port: host.project.port } }),
  });
  for (const line of guideLines('monitor.md', 'pack')) await toReady.typed([line], () => typeIn(folder, line));
  const read = (name: string): string => readFileSync(join(folder, 'deploy/monitoring', name), 'utf8');
  const scrape = parse(read('scrape.yml')) as { readonly scrape_configs: readonly Record<string, unknown>[] };
  const jobs = scrape.scrape_configs.map((job) => ({
    ...job,
    scrape_interval: '5s', // and as long for an answer: the machine may have others to serve
    ...('authorization' in job ? { authorization: { credentials_file: 'token' } } : {}),
  }));
  return {
    jobs,
    rules: read('alerts.yml').replaceAll(/for: \d+[mh]$/gmu, 'for: 2s'),
    alertmanager: parse(
      read('alertmanager.yml')
        .replaceAll(/group_wait: .*/gu, 'group_wait: 1s')
        .replaceAll(/group_interval: .*/gu, 'group_interval: 1s'),
    ) as { readonly receivers: readonly { readonly name: string }[] },
  };
}

async function monitored(t: TestContext, host: ActingHost, toReady: ToReady) {
  const pack = await packOf(t, host, toReady);
  const receiver = await startReceiver(t);
  const alertmanager = await startAlertmanager(t, {
    ...pack.alertmanager,
    receivers: pack.alertmanager.receivers.map(({ name }) => ({
      name,
      webhook_configs: [{ url: `${receiver.url}/${name}`, send_resolved: true }],
    })),
  });
  const prometheus = await startPrometheus(t, {
    config: {
      global: { evaluation_interval: '1s' },
      rule_files: ['alerts.yml'],
      alerting: { alertmanagers: [{ static_configs: [{ targets: [`127.0.0.1:${alertmanager.port}`] }] }] },
      scrape_configs: pack.jobs,
    },
    files: { 'alerts.yml': pack.rules, token: host.project.token },
  });
  return { receiver, alertmanager, prometheus };
}

const ask = (host: ActingHost, path: string, headers: Readonly<Record<string, string>> = {}): Promise<Response> =>
  fetch(`${host.project.url}${path}`, { headers: { authorization: `Bearer ${host.project.token}`, ...headers } });

/** A client comes back after what it needs was deleted. */
async function missEvents(host: ActingHost): Promise<void> {
  const page = (await (await ask(host, '/api/events?format=json&limit=1')).json()) as {
    readonly items: readonly { readonly id: string }[];
  };
  const epoch = String(page.items[0]?.id).split('.')[0];
  for (let n = 0; n < 60; n += 1) await host.say(`p${n}`, `say ${n}`);
  await until(
    async () => /^svc_event_oldest\{[^}]*\} (?!1$)\d+$/mu.test(await (await ask(host, '/api/metrics')).text()),
    {
      what: 'old events to be deleted, which is once a minute',
      everyMs: 1_000,
    },
  );
  const answer = await ask(host, '/api/events?gap=fail', { 'last-event-id': `${epoch}.1` });
  assert.equal(answer.status, 410, await answer.text());
}

describe('a host under Prometheus and Alertmanager', { skip }, () => {
  it('has its figures read, and each alert arrives with project, account and process', async (t) => {
    const irc = new FakeIrcServer();
    await irc.listen(t);
    const host = await startHost(t, irc);
    const toReady = new ToReady('monitoring', 'a host, Prometheus and Alertmanager');
    const { receiver, alertmanager, prometheus } = await monitored(t, host, toReady);
    const runtimeId = (): string => host.worker().runtimeId;
    const first = runtimeId();
    await toReady.waited(() => prometheus.sees(`svc_build_info{runtime_id="${first}"}`));
    toReady.tell(t);
    await prometheus.sees(`svc_endpoint_online{endpoint="${REQUIRED}"} == 1`);

    const figures = join(host.project.path, 'figures.txt');
    writeFileSync(figures, await (await ask(host, '/api/metrics')).text());
    const checked = await runProgram('sh', ['-c', 'exec promtool check metrics < "$0"', figures], host.project.path);
    assert.deepEqual(checked, { code: 0, stdout: '', stderr: '' });

    irc.cut();
    const offline = await receiver.gets('SvcEndpointOffline', { endpoint: OTHER });
    const required = await receiver.gets('SvcRequiredEndpointOffline', { endpoint: REQUIRED });
    await until(
      async () =>
        (await alertmanager.alerts()).find(
          ({ labels }) => labels['alertname'] === 'SvcEndpointOffline' && labels['endpoint'] === REQUIRED,
        )?.status.inhibitedBy.length,
      { what: 'the warning to be muted by the critical alert', everyMs: 200 },
    );
    await host.say('ann', 'die 1');
    const dead = await receiver.gets('SvcDeadLetters');
    await missEvents(host);
    const gaps = await receiver.gets('SvcStreamGaps');
    for (const alert of [offline, required, dead, gaps]) assert.equal(alert.annotations['runtime_id'], first);

    const queries = dashboardQueries(dashboard()).filter((query) => !query.startsWith('label_values'));
    assert.ok(queries.length > 20);
    await prometheus.sees('up{job="svc-probe"} == 0'); // no blackbox exporter runs here
    // What the variables of the dashboard give: one of each, and all.
    for (const chosen of [
      { job: 'svc', project: 'shop' },
      { job: '.*', project: '.*' },
    ]) {
      const values = { ...chosen, endpoint: '.*', __rate_interval: '1m' };
      const empty: string[] = [];
      for (const query of queries) {
        const filled = query.replaceAll(/\$(\w+)/gu, (_, name: string) => values[name as keyof typeof values]);
        const ask = async () => (await prometheus.query(filled)).map(({ value }) => value[1]);
        if ((await ask()).length === 0) empty.push(query);
        // A scrape that was slow makes it 0 until the next one.
        if (/\bup\{/u.test(query))
          await until(async () => isDeepStrictEqual(await ask(), ['1']), { what: `${filled} to be 1`, everyMs: 200 });
      }
      assert.deepEqual(
        empty.filter((query) => !/svc_(?:jobs?|workroom)_/u.test(query)), // this host has no jobs and no Workroom
        [],
        JSON.stringify(chosen),
      );
    }

    process.kill(host.worker().pid, 'SIGKILL');
    const crash = await receiver.gets('SvcCrashed');
    assert.match(crash.annotations['summary'] ?? '', /^shop: the worker crashed/u);
    await until(() => runtimeId() !== first, { what: 'the next worker' });
    const second = runtimeId();
    assert.ok([first, second].includes(crash.annotations['runtime_id'] ?? ''));

    await prometheus.sees(`svc_build_info{runtime_id="${second}"}`);
    await prometheus.sees(`max_over_time(timestamp(svc_build_info{runtime_id="${second}"})[1d:1m])`);
    await host.die();
    const down = await receiver.gets('SvcDown');
    assert.deepEqual([down.annotations['runtime_id'], down.labels['job']], [second, 'svc']);
  });
});
