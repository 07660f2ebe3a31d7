// When the whole host, in this process, is ready and when it is not.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { existsSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { ReadinessReport } from '../../shared/api/serving/readiness.ts';
import { DAMAGED_REMEDY } from '../../shared/files/database-remedies.ts';
import { ensureStateFolder } from '../../shared/files/state-folder.ts';
import { HTTP, type Running, running } from '../support/hosts/app-host.ts';
import { temporaryProject } from '../support/temporary-project.ts';
import { until } from '../support/until.ts';

const REQUIRED = { ...HTTP, readiness: { endpoints: [{ owner: 'root/sandbox', name: 'sandbox' }] } };

async function flips(host: Running, ready: boolean): Promise<void> {
  await until(async () => (await host.call('GET', '/pub/ready')).status === (ready ? 200 : 503), {
    what: `ready ${ready}`,
  });
}

describe('readiness', () => {
  it('flips, each way, when a required account is disabled and enabled', async (t) => {
    const host = await running(t, { config: { http: REQUIRED } });
    await flips(host, true);

    await host.call('POST', '/api/endpoints/root/sandbox:sandbox/disable', {});
    await flips(host, false);
    const report = await host.call('GET', '/api/system/readiness');
    await host.call('POST', '/api/endpoints/root/sandbox:sandbox/enable', {});
    await flips(host, true);

    const checks = report.json['checks'] as { component: string; ready: boolean; remediation: string }[];
    assert.equal(report.status, 503);
    assert.deepEqual(
      checks.filter(({ ready }) => !ready).map(({ component }) => component),
      ['endpoint:root/sandbox:sandbox'],
    );
    assert.match(checks.find(({ ready }) => !ready)?.remediation ?? '', /svc endpoints enable/);
  });

  it('flips when a reload removes a required account, and when it comes back', async (t) => {
    const host = await running(t, { config: { http: REQUIRED } });
    await flips(host, true);

    host.configure({ http: REQUIRED, plugins: { echo: {} } });
    assert.equal((await host.call('POST', '/api/system/reload', {})).status, 200);
    await flips(host, false);
    host.configure({ http: REQUIRED });
    await host.call('POST', '/api/system/reload', {});
    await flips(host, true);
  });

  it('flips when the database file is taken away, nothing is acknowledged meanwhile, and it heals when it is back', async (t) => {
    const host = await running(t);
    await flips(host, true);
    const file = join(host.project.paths.stateDir, 'data.sqlite');

    renameSync(file, `${file}.away`);
    await flips(host, false);
    const refused = await host.call('POST', '/api/chat/say', { person: 'ann', text: 'hi', delivery: randomUUID() });
    const paused = await host.call('PUT', '/api/system/ingress', { state: 'paused' });
    renameSync(`${file}.away`, file);
    await flips(host, true);

    assert.match(paused.text, /data\.sqlite was moved/);
    assert.ok(!paused.text.includes(host.project.path), paused.text); // no path of the machine in a problem
    assert.equal(refused.status, 503);
    assert.equal(refused.json['code'], 'storage_unavailable');
    assert.ok(Number(refused.headers.get('retry-after')) >= 1);
    assert.equal((await host.call('GET', '/pub/health')).status, 200);
  });

  it('comes up without a database, says so, and begins when one opens', async (t) => {
    const project = temporaryProject(t);
    ensureStateFolder(project.paths.stateDir);
    const file = join(project.paths.stateDir, 'data.sqlite');
    writeFileSync(file, 'no database, but long enough to be read as one'.repeat(200));
    const host = await running(t, { project });
    const report = await host.call('GET', '/api/system/readiness');
    const status = await host.call('GET', '/api/system/status');
    const sent = await host.call('POST', '/webhooks/shop', {}); // "not there" would make a platform give the address up
    const unknown = (await host.call('GET', '/api/metrics')).text;
    renameSync(file, `${file}.damaged`);
    await until(async () => (await host.call('GET', '/pub/ready')).status === 200, { what: 'the database' });

    const told = [report.status, sent.status, report.json['generation'], status.json['generation']];
    assert.deepEqual(told, [503, 503, null, null]);
    assert.match(report.text, /is damaged/);
    assert.ok(report.text.includes(DAMAGED_REMEDY), 'the remedy that doctor names');
    assert.equal((await host.call('GET', '/api/system/status')).json['generation'], 1);
    assert.match(unknown, /^svc_ready\{.*\} 0$/m);
    const known = (await host.call('GET', '/api/metrics')).text;
    for (const name of ['svc_outbox_dead', 'svc_inbox_dead', 'svc_inbox_pending', 'svc_event_head']) {
      assert.doesNotMatch(unknown, new RegExp(`^${name}\\{`, 'm'), 'a figure that nobody knows is no zero');
      assert.match(known, new RegExp(`^${name}\\{.*\\} [0-9]+$`, 'm'));
    }
  });

  it('says nowhere that ingress is open while nobody can read that it was paused', async (t) => {
    const project = temporaryProject(t);
    const file = join(project.paths.stateDir, 'data.sqlite');
    const first = await running(t, { project });
    await flips(first, true);
    await first.call('PUT', '/api/system/ingress', { state: 'paused', reason: 'a look' });
    await first.app.stop(2_000);
    for (const end of ['', '-wal', '-shm'])
      if (existsSync(`${file}${end}`)) renameSync(`${file}${end}`, `${file}.kept${end}`);
    writeFileSync(file, 'no database, but long enough to be read as one'.repeat(200));

    const host = await running(t, { project });
    const get = await host.call('GET', '/api/system/ingress');
    const open = await host.call('PUT', '/api/system/ingress', { state: 'open' });
    const status = await host.call('GET', '/api/system/status');
    const report = await host.call('GET', '/api/system/readiness');
    const metrics = await host.call('GET', '/api/metrics');
    for (const end of ['', '-wal', '-shm'])
      if (existsSync(`${file}.kept${end}`)) renameSync(`${file}.kept${end}`, `${file}${end}`);
    await flips(host, true);

    assert.deepEqual([get.status, get.json['code'], open.status], [503, 'storage_unavailable', 503]);
    assert.ok(Number(get.headers.get('retry-after')) >= 1);
    assert.deepEqual([status.status, status.json['ingress'], report.json['ingress']], [200, null, 'paused']);
    assert.doesNotMatch(metrics.text, /^svc_ingress_paused\{/m);
    assert.equal((await host.call('GET', '/api/system/ingress')).json['reason'], 'a look');
  });

  it('is not touched by a paused ingress, and its report says since when each check says what it says', async (t) => {
    const host = await running(t, { config: { http: REQUIRED } });
    await flips(host, true);
    const report = async (): Promise<ReadinessReport> =>
      (await host.call('GET', '/api/system/readiness')).json as unknown as ReadinessReport;
    const sinceOf = ({ checks }: ReadinessReport, start: string): string =>
      checks.find(({ component }) => component.startsWith(start))?.since ?? '';
    const before = await report();

    await host.call('PUT', '/api/system/ingress', { state: 'paused' });
    const paused = await report();
    await host.call('POST', '/api/endpoints/root/sandbox:sandbox/disable', {});
    await flips(host, false);
    const disabled = await report();
    await host.call('POST', '/api/endpoints/root/sandbox:sandbox/enable', {});
    await flips(host, true);

    assert.deepEqual([before.schema, before.state, before.ingress], ['svc.readiness/1', 'ready', 'open']);
    assert.deepEqual([paused.ready, paused.state, paused.ingress], [true, 'ready', 'paused']);
    assert.deepEqual([disabled.ready, disabled.state], [false, 'not_ready']);
    assert.notEqual(sinceOf(disabled, 'endpoint'), sinceOf(before, 'endpoint'));
    for (const other of ['runtime', 'database']) assert.equal(sinceOf(disabled, other), sinceOf(before, other), other);
    assert.deepEqual(
      before.checks.map(({ component, check }) => `${component} ${check}`),
      ['runtime committed', 'database initialized', 'endpoint:root/sandbox:sandbox admission_open'],
    );
    assert.match(before.runtimeId, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    assert.match(before.configVersion, /^sha256:/);
  });
});
