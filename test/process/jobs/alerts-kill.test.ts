// kill -9 between an alert that fires and the message that tells of it: one message arrives at each target, by IRC and by a signed webhook, and
// one more when it resolves. The host looks each 30 s, so each life takes as long.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { ShownAlerts } from '../../../shared/api/monitoring/alert.ts';
import { FakeIrcServer } from '../../support/fake-platforms/irc-server.ts';
import { FaultyHost } from '../../support/hosts/faulty-host.ts';
import { shiftedBy } from '../../support/shifted-clock.ts';
import { until } from '../../support/until.ts';

const call = (host: FaultyHost, method: string, path: string, body?: object) =>
  fetch(`${host.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${host.project.token}`, 'content-type': 'application/json', connection: 'close' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });

const alertsOf = async (host: FaultyHost): Promise<ShownAlerts> =>
  (await (await call(host, 'GET', '/api/alerts')).json()) as ShownAlerts;

/** Waits until the host has looked once more. */
async function looked(host: FaultyHost): Promise<ShownAlerts> {
  const { at } = await alertsOf(host);
  return until(
    async () => {
      const found = await alertsOf(host);
      return found.at !== at && found;
    },
    { what: 'the next look at alerts', everyMs: 500 },
  );
}

describe('a worker that is killed', () => {
  it('before and after it has stored what it tells of an alert tells it once, and its end once', async (t) => {
    const irc = new FakeIrcServer();
    await irc.listen(t);
    const shift = join(tmpdir(), `svc-shift-${process.pid}`);
    writeFileSync(shift, '0');
    const account = { id: 'ops', nick: 'svc', server: '127.0.0.1', port: irc.port, tls: false, channels: ['#ops'] };
    const host = await FaultyHost.start(t, {
      failpoints: 'alerts.fires=kill',
      environment: shiftedBy(shift),
      plugins: { irc: { endpoints: [account] } },
      config: {
        alerts: {
          notify: [
            { endpoint: 'irc~ops', conversation: '#ops' },
            { endpoint: 'webhook~shop', conversation: 'alerts' },
          ],
          rules: { SvcPausedLong: { for: '0s' }, SvcCrashed: { enabled: false }, SvcCrashLoop: { enabled: false } },
        },
      },
    });
    assert.equal((await call(host, 'PUT', '/api/system/ingress', { state: 'paused', reason: 'a test' })).status, 200);
    const heard = (): readonly string[] =>
      irc.heard.map(({ text }) => text).filter((text) => /SvcPausedLong/.test(text));
    const posted = (): readonly string[] => [...host.platform.posts.values()].map(({ text }) => text);

    assert.equal((await host.life.ended).signal, 'SIGKILL');
    assert.deepEqual([heard(), posted()], [[], []]);
    host.restart('alerts.told=kill');
    assert.equal((await host.life.ended).signal, 'SIGKILL');
    host.restart();
    await until(() => heard().length > 0 && posted().length > 0, { what: 'the message to arrive' });
    await host.isReady(true);
    await looked(host);
    await looked(host);
    assert.deepEqual([heard().length, posted().length], [1, 1]);
    assert.match(heard()[0] ?? '', /WARNING SvcPausedLong/);
    assert.match(posted()[0] ?? '', /SvcPausedLong/);

    assert.equal((await call(host, 'PUT', '/api/system/ingress', { state: 'open' })).status, 200);
    assert.equal((await looked(host)).alerts.find(({ name }) => name === 'SvcPausedLong')?.state, 'quiet');
    writeFileSync(shift, '270000'); // a signature of a clock that is five minutes off is refused
    await until(() => heard().length > 1 && posted().length > 1, { what: 'its end to be told' });
    host.restart(await host.life.stop().then(() => undefined));
    await host.isReady(true);
    await looked(host);
    assert.deepEqual([heard().length, posted().length], [2, 2]);
    assert.match(heard()[1] ?? '', /RESOLVED SvcPausedLong/);
    assert.deepEqual(host.platform.faults, []);
  });
});
