// `/api/figures`: samples of the last hour, for whoever draws them.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ShownFigures } from '../../../shared/api/monitoring/figures.ts';
import { createAlertsAdmin } from '../../../worker/alerts/index.ts';
import { alertsHost } from '../../support/alerts/alerts-host.ts';
import { HTTP, running } from '../../support/hosts/app-host.ts';
import { temporaryProject } from '../../support/temporary-project.ts';
import { until } from '../../support/until.ts';

const MINUTE = 60_000;

describe('the figures of the last hour', () => {
  it('are samples 30 s apart, each series with a value or none for each of them', async (t) => {
    const made = await alertsHost(t);
    const { figures } = createAlertsAdmin(made.host.core, made.alerts);
    made.set('svc_ready', 1);
    made.set('svc_endpoint_online', 1, { endpoint: 'root/memory:memory~a' });
    made.set('svc_inbox_dead', 3);
    await made.host.advance(2 * MINUTE);
    made.lose('svc_inbox_dead');
    await made.host.advance(90 * MINUTE);
    const { stepSeconds, times, series, unread } = await figures(undefined);

    const at = times.map((time) => Date.parse(time));
    assert.equal(stepSeconds, 30);
    assert.ok(at.every((time, index) => index === 0 || time - (at[index - 1] ?? 0) === 30_000));
    assert.equal((at.at(-1) ?? 0) - (at[0] ?? 0), 61 * MINUTE);
    assert.deepEqual(
      series.map(({ name, labels, values }) => [name, labels, values.length, values.at(-1)]),
      [
        ['svc_ready', {}, times.length, 1],
        ['svc_endpoint_online', { endpoint: 'root/memory:memory~a' }, times.length, 1],
      ],
    );
    assert.deepEqual(unread, ['svc_inbox_dead']);
    made.lose();
    await made.host.advance(MINUTE);
    const [dead] = (await figures(['svc_inbox_dead'])).series;
    assert.deepEqual(dead?.values.slice(-3), [null, 3, 3]);
  });

  it('are answered by a host to whoever may read metrics, all or those of some names', async (t) => {
    const project = temporaryProject(t, { config: { host: { name: 'test' }, http: HTTP, plugins: { sandbox: {} } } });
    // After a crash it looks at once.
    const previous = { end: 'crashed', code: null, signal: 'SIGKILL', detail: null } as const;
    const { call } = await running(t, { project, previous });
    const ask = async (query: string): Promise<ShownFigures> => {
      const { status, json } = await call('GET', `/api/figures${query}`);
      assert.equal(status, 200);
      return json as unknown as ShownFigures;
    };
    await until(async () => (await ask('')).times.length > 0, { what: 'the first sample', everyMs: 50 });

    const names = new Set((await ask('')).series.map(({ name }) => name));
    for (const name of ['svc_ready', 'svc_inbox_received_total', 'svc_outbox_attempts_total', 'svc_log_messages_total'])
      assert.ok(names.has(name), name);
    const { series } = await ask('?names=svc_ready,svc_endpoint_online');
    assert.deepEqual(
      series.map(({ name, labels, values }) => [name, Object.keys(labels), values.at(-1)]),
      [
        ['svc_ready', [], 1],
        ['svc_endpoint_online', ['endpoint'], 1],
      ],
    );
    assert.equal((await call('GET', '/api/figures?name=svc_ready')).status, 400);
  });
});
