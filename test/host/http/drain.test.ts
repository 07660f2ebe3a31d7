// The HTTP server as a long-lived part: listening, draining, closing.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, it } from 'node:test';
import { createHttpServer } from '../../../worker/http/server/server.ts';
import { StartGate } from '../../../worker/http/server/start-gate.ts';
import { freePort } from '../../support/free-port.ts';
import { FULL_TOKEN, fakeHostPort } from '../../support/hosts/fake-host-port.ts';
import { type ServerUnderTest, startHttp } from '../../support/http/http-server.ts';
import { requestText } from '../../support/http/raw-http.ts';
import { until } from '../../support/until.ts';

const full = `Authorization: Bearer ${FULL_TOKEN}`;

/** More than begin in one turn. */
const MANY = 300;
const QUIET = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

describe('listening and draining', () => {
  it('says plainly when the address is taken', async (t) => {
    const server = await startHttp(t);
    const second = createHttpServer({
      port: fakeHostPort(),
      log: QUIET,
      listen: { host: '127.0.0.1', port: server.port },
    });

    await assert.rejects(second.listen(), {
      code: 'listen_failed',
      message: new RegExp(`held by pid ${process.pid}`),
    });
    await second.close();
  });

  it('is one of two that start at once on an address: the other is told who holds it', async (t) => {
    const listen = { host: '127.0.0.1', port: await freePort() };
    const servers = [listen, listen, { ...listen, host: '127.0.0.2' }].map((where) => {
      const server = createHttpServer({ port: fakeHostPort(), log: QUIET, listen: where });
      t.after(() => server.close());
      return server.listen();
    });

    const [first, second, elsewhere] = await Promise.allSettled(servers);

    assert.deepEqual([first?.status, elsewhere?.status, second?.status], ['fulfilled', 'fulfilled', 'rejected']);
    assert.match(String((second as PromiseRejectedResult).reason), new RegExp(`port ${listen.port} is held by pid`));
  });

  it('begins nothing, ends the streams and lets what is under way finish, on an address that stays open', async (t) => {
    const server = await startHttp(t);
    const stream = connect(server.port, '127.0.0.1').on('error', () => {}); // its end may be a reset
    stream.resume().write(requestText('GET /api/events', [full]));
    await until(() => server.host.streams.size === 1, { what: 'the stream' });
    const held = holdStatus(server);
    const underWay = server.raw('GET /api/system/status', [full]);
    await until(() => held.isAsked, { what: 'the request' });
    server.host.isReady = false;

    const drained = server.http.drain(120_000);
    await until(() => server.host.streams.size === 0, { what: 'the end of the stream' });
    const answers = [
      await server.raw('GET /pub/health'),
      await server.raw('GET /pub/ready'),
      await server.raw('GET /api/system/readiness', [full]),
      await server.raw('POST /api/system/restart', [full, 'Content-Length: 0']),
      await server.raw('GET /api/events', [full]),
    ];
    held.release();

    assert.equal((await underWay).status, 200);
    await drained;
    assert.deepEqual(
      answers.map(({ status }) => status),
      [200, 503, 503, 503, 503],
    );
    for (const { headers } of answers) assert.equal(headers['connection'], 'close');
    for (const { body, headers } of answers.slice(3))
      assert.deepEqual([JSON.parse(body).code, Number(headers['retry-after']) > 0], ['draining', true]);
    assert.deepEqual(server.host.calls, []);
    await server.http.close();
    stream.destroy();
    assert.equal((await server.raw('GET /pub/health')).status, 0, 'closed at the end');
  });

  it('leaves a held socket to the next worker', async (t) => {
    const server = await startHttp(t, { isHeld: true });
    const held = holdStatus(server);
    const underWay = server.raw('GET /api/system/status', [full]);
    await until(() => held.isAsked, { what: 'the request' });

    await server.http.leaveHeldSocket(60_000);
    const isListening = server.http.server.listening;
    held.release();

    assert.equal((await underWay).status, 200);
    assert.equal(isListening, false);
    await server.http.drain(120_000);
  });

  it('begins all that it has accepted from a held socket, however much that is', async (t) => {
    const gate = new StartGate();
    const server = await startHttp(t, { isHeld: true, gate });
    let arrived = 0;
    server.http.server.on('request', () => (arrived += 1));
    const answers = Array.from({ length: MANY }, () =>
      server.raw('POST /api/system/restart', [full, 'Content-Length: 0']),
    );
    await until(() => arrived === MANY, { what: 'all requests' });
    gate.open();
    await new Promise((resolve) => setImmediate(resolve));
    const begun = server.host.calls.length;

    await server.http.leaveHeldSocket(60_000);
    await new Promise((resolve) => setImmediate(resolve));
    server.http.beginNothing();

    const statuses = new Set((await Promise.all(answers)).map(({ status }) => status));
    assert.ok(begun < MANY, `${begun} had begun before`);
    assert.deepEqual([...statuses], [202]);
  });

  it('comes after the first request of who has connected, for a moment', async (t) => {
    const server = await startHttp(t, { isHeld: true });
    t.mock.method(performance, 'now', () => 0); // that moment does not end
    const accepted = once(server.http.server, 'connection');
    const socket = connect(server.port, '127.0.0.1').on('error', () => {}); // its end may be a reset
    await accepted;
    let isStopped = false;

    const stopped = server.http.leaveHeldSocket(60_000).then(() => (isStopped = true));
    const before = isStopped;
    socket.write(requestText('POST /api/system/restart', [full, 'Content-Length: 0']));
    const [answer] = (await once(socket, 'data')) as [Buffer];
    await stopped;

    assert.deepEqual([before, answer.toString().split('\r\n')[0]], [false, 'HTTP/1.1 202 Accepted']);
    socket.destroy();
  });

  it('is bounded by its limit', async (t) => {
    const server = await startHttp(t);
    server.host.system.status = () => new Promise(() => {});
    void server.raw('GET /api/system/status', [full]);
    await until(() => server.http.server.listening, { what: 'the server' });
    const idle = connect(server.port, '127.0.0.1').on('error', () => {}); // its end may be a reset
    idle.on('error', () => {});
    await once(idle, 'connect');

    await server.http.drain(200); // what is under way would never end
  });

  it('refuses changes and upgrades on connections that are still open', async (t) => {
    const server = await startHttp(t);
    const socket = connect(server.port, '127.0.0.1').on('error', () => {}); // its end may be a reset
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk.toString();
    });
    const held = holdStatus(server);
    socket.write(requestText('GET /api/system/status', [full]));
    await until(() => held.isAsked, { what: 'the request under way' });

    const drained = server.http.drain(2_000);
    socket.write(requestText('POST /api/system/restart', [full]));
    await until(() => server.host.observed.length > 0 || socket.writableLength === 0, {
      what: 'the second request to be sent',
    });
    held.release();
    await drained;

    assert.ok(!text.includes('HTTP/1.1 202'));
    assert.deepEqual(server.host.calls, []);
  });
});

/** Makes the status of the host wait, so that a request stays under way. */
function holdStatus({ host }: ServerUnderTest): { isAsked: boolean; release(): void } {
  const held = { isAsked: false, release: (): void => {} };
  host.system.status = () =>
    new Promise((resolve) => {
      held.isAsked = true;
      held.release = () => resolve({ slow: true });
    });
  return held;
}
