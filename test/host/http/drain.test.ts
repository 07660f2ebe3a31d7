// The HTTP server as a long-lived part: listening, draining, closing.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, it } from 'node:test';
import { bindFault } from '../../../shared/process/port-owner.ts';
import { createHttpServer } from '../../../worker/http/server/server.ts';
import { freePort } from '../../support/free-port.ts';
import { FULL_TOKEN, fakeHostPort } from '../../support/hosts/fake-host-port.ts';
import { type ServerUnderTest, startHttp } from '../../support/http/http-server.ts';
import { requestText } from '../../support/http/raw-http.ts';
import { until } from '../../support/until.ts';

const full = `Authorization: Bearer ${FULL_TOKEN}`;

const QUIET = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

describe('listening and draining', () => {
  it('says plainly when the address is taken', async (t) => {
    const server = await startHttp(t);
    const second = createHttpServer({
      port: fakeHostPort(),
      log: QUIET,
      listen: { host: '127.0.0.1', port: server.port },
    });

    await assert.rejects(second.bind(), { code: 'listen_failed', message: new RegExp(`held by pid ${process.pid}`) });
    await assert.rejects(second.listen(), { code: 'listen_failed' });
    await second.close();
  });

  it('has its address from before it listens, and nobody else gets it', async (t) => {
    const server = createHttpServer({
      port: fakeHostPort(),
      log: QUIET,
      listen: { host: '127.0.0.1', port: await freePort() },
    });
    t.after(() => server.close());
    await server.bind();

    const { port } = await server.listen();

    assert.equal((await fetch(`http://127.0.0.1:${port}/pub/health`)).status, 200);
  });

  it('has its turn from the bind to the listen: who comes in between waits, and is told then', async (t) => {
    const where = { host: '127.0.0.1', port: await freePort() };
    const [first, second, elsewhere] = [where, where, { ...where, host: '127.0.0.2' }].map((listen) => {
      const server = createHttpServer({ port: fakeHostPort(), log: QUIET, listen });
      t.after(() => server.close());
      return server;
    });
    await first?.bind();
    const bound = Promise.allSettled([second?.bind(), elsewhere?.bind().then(() => elsewhere.listen())]);
    await first?.listen();

    const [refused, taken] = await bound;

    assert.equal(refused.status, 'rejected');
    assert.match(String(refused.reason), new RegExp(`port ${where.port} is held by pid ${process.pid}`));
    assert.equal(taken.status, 'fulfilled');
  });

  it('gives back an address on which it never listened', async () => {
    const where = { host: '127.0.0.1', port: await freePort() };
    const server = createHttpServer({
      port: fakeHostPort(),
      log: QUIET,
      listen: where,
    });
    await server.bind();
    await server.close();

    assert.equal(await bindFault(where.host, where.port), undefined);
  });

  it('accepts nothing new, ends the streams and lets what is under way finish', async (t) => {
    const server = await startHttp(t);
    const stream = connect(server.port, '127.0.0.1');
    stream.resume().write(requestText('GET /api/events', [full]));
    await until(() => server.host.streams.size === 1, { what: 'the stream' });
    const held = holdStatus(server);
    const underWay = server.raw('GET /api/system/status', [full]);
    await until(() => held.isAsked, { what: 'the request' });

    const drained = server.http.drain(120_000);
    await once(stream, 'close');
    await until(async () => (await server.raw('GET /pub/health')).status === 0, { what: 'the end of accepting' });
    held.release();

    assert.equal((await underWay).status, 200);
    await drained;
  });

  it('comes after the first request of who has connected, for a moment', async (t) => {
    const server = await startHttp(t);
    t.mock.method(performance, 'now', () => 0); // that moment does not end
    const accepted = once(server.http.server, 'connection');
    const socket = connect(server.port, '127.0.0.1');
    await accepted;
    let isStopped = false;

    const stopped = server.http.stopListening().then(() => (isStopped = true));
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
    const idle = connect(server.port, '127.0.0.1');
    idle.on('error', () => {});
    await once(idle, 'connect');

    await server.http.drain(200); // what is under way would never end
  });

  it('refuses changes and upgrades on connections that are still open', async (t) => {
    const server = await startHttp(t);
    const socket = connect(server.port, '127.0.0.1');
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
