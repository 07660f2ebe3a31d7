// Several requests on one connection before the first is answered: the answers keep their order, and what waits behind one goes with the connection.
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { Readable } from 'node:stream';
import { describe, it } from 'node:test';
import { FULL_TOKEN } from '../../support/hosts/fake-host-port.ts';
import { holdStatus, type ServerUnderTest, startHttp } from '../../support/http/http-server.ts';
import { requestText } from '../../support/http/raw-http.ts';
import { until } from '../../support/until.ts';

const full = `Authorization: Bearer ${FULL_TOKEN}`;
const SLOW = requestText('GET /api/system/status', [full]);

function open(server: ServerUnderTest, bytes: string) {
  const socket = connect(server.port, '127.0.0.1').on('error', () => {}); // its end may be a reset
  let text = '';
  let isClosed = false;
  socket.setEncoding('latin1').on('data', (chunk: string) => {
    text += chunk;
  });
  socket
    .on('error', () => {})
    .on('close', () => {
      isClosed = true;
    });
  socket.write(bytes);
  return {
    socket,
    statuses: () => [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status)),
    closed: () => isClosed,
  };
}

describe('requests behind one another on a connection', () => {
  it('let go of their stream when the connection ends before their turn', async (t) => {
    const server = await startHttp(t, { limits: { streamsPerToken: 1 } });
    const answer = holdStatus(server);
    const { socket } = open(server, SLOW + requestText('GET /api/events', [full]));
    await until(() => server.host.streams.size === 1, { what: 'the stream behind the slow answer' });

    socket.destroy();

    await until(() => server.host.streams.size === 0, { what: 'no stream' });
    assert.equal((await server.raw('GET /api/events', [full])).status, 200);
    answer();
  });

  it('no longer count as requests of their client when the connection ends before their turn', async (t) => {
    const limits = { connectionsPerAddress: 2 };
    const server = await startHttp(t, { trustedProxies: ['127.0.0.1'], limits });
    const answer = holdStatus(server);
    const client = [full, 'X-Forwarded-For: 203.0.113.9'];
    const slow = requestText('GET /api/system/status', client);
    const { socket } = open(server, slow + slow);
    await until(async () => (await server.raw('GET /api/plugins', client)).status === 429, { what: 'the limit' });

    socket.destroy();

    await until(async () => (await server.raw('GET /api/plugins', client)).status === 200, { what: 'room again' });
    answer();
  });

  it('are answered before the fault of what comes behind them, which ends the connection', async (t) => {
    for (const fault of [
      'garbage\r\n\r\n',
      requestText('POST /none', ['Content-Length: x']),
      'CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n',
    ]) {
      const server = await startHttp(t);
      const answer = holdStatus(server);
      const client = open(server, SLOW + requestText('GET /pub/health') + fault);
      client.socket.write('more of it\r\n\r\n');
      await until(async () => (await server.raw('GET /pub/health')).status === 200, { what: 'what was sent is read' });

      answer();

      await until(client.closed, { what: 'the end' });
      const [first, second, last] = client.statuses();
      assert.deepEqual(
        [first, second, last === 400 || last === 405, client.statuses().length],
        [200, 200, true, 3],
        fault,
      );
    }
  });

  it('end with a stream that a fault follows: nothing is written into it', async (t) => {
    const server = await startHttp(t);
    const client = open(server, requestText('GET /api/events', [full]));
    await until(() => client.statuses().length === 1, { what: 'the stream' });

    client.socket.write('garbage\r\n\r\n');

    await until(client.closed, { what: 'the end' });
    assert.deepEqual(client.statuses(), [200]);
    assert.equal(server.host.streams.size, 0);
  });

  it('are answered before an upgrade that comes behind them, whatever it offers', async (t) => {
    const upgrades = [
      [
        'GET /api/ws',
        101,
        ['Upgrade: websocket', `Sec-WebSocket-Key: ${'A'.repeat(22)}==`, 'Sec-WebSocket-Version: 13'],
      ],
      ['GET /pub/health', 200, ['Upgrade: h2c']],
      ['GET /api/ws', 400, ['Upgrade: websocket', 'Sec-WebSocket-Key: x']],
    ] as const;
    for (const [line, status, offer] of upgrades) {
      const server = await startHttp(t);
      const answer = holdStatus(server);
      const offered = requestText(line, [full, 'Connection: Upgrade', ...offer]);
      const client = open(server, SLOW + requestText('GET /pub/health') + offered);
      await until(async () => (await server.raw('GET /pub/health')).status === 200, { what: 'what was sent is read' });
      assert.deepEqual(client.statuses(), [], line);

      answer();

      await until(() => client.statuses().length === 3, { what: 'three answers' });
      assert.deepEqual(client.statuses(), [200, 200, status], line);
      client.socket.destroy();
    }
  });

  it('are streamed to their end before an upgrade that comes behind them', async (t) => {
    const server = await startHttp(t);
    const piece = Buffer.alloc(64 * 1024, '.');
    server.host.files.open = async () => ({
      name: 'large',
      mime: 'text/plain',
      bytes: 64 * piece.length,
      content: () => Readable.from(Array.from({ length: 64 }, () => piece)),
      close: async () => {},
    });
    const file = requestText('GET /files/1?name=x&expires=1&signature=good');
    const upgrade = requestText('GET /pub/health', ['Connection: Upgrade', 'Upgrade: h2c']);

    const client = open(server, file + upgrade);

    await until(() => client.statuses().length === 2 || client.closed(), { what: 'both answers' });
    assert.deepEqual(client.statuses(), [200, 200]);
    client.socket.destroy();
  });
});
