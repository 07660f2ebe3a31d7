// Bodies that are refused before they were read: the answer reaches also a client that reads only after it wrote, and the connection then ends.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import { FULL_TOKEN } from '../../../support/hosts/fake-host-port.ts';
import { holdStatus, type ServerUnderTest, startHttp } from '../../../support/http/http-server.ts';
import { requestText, sendRaw } from '../../../support/http/raw-http.ts';
import { until } from '../../../support/until.ts';

const MIB = 1024 * 1024;
const full = `Authorization: Bearer ${FULL_TOKEN}`;
const json = 'Content-Type: application/json';
const RESTART = 'POST /api/system/restart';
const PIECE = 'x'.repeat(MIB);

/** The heads of a body of so many MiB, by its length and in chunks, with how its pieces and its end are sent. */
const framings = (mib: number) => [
  { header: `Content-Length: ${mib * MIB}`, piece: PIECE, end: '' },
  { header: 'Transfer-Encoding: chunked', piece: `${MIB.toString(16)}\r\n${PIECE}\r\n`, end: '0\r\n\r\n' },
];

/** A connection that reads nothing until it is told to. */
function open(t: TestContext, port: number) {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  let fault: string | undefined;
  t.after(() => socket.destroy());
  socket.on('error', ({ message }) => {
    fault = message;
  });
  return { socket, fault: () => fault };
}

async function write(socket: Socket, text: string): Promise<void> {
  if (!socket.destroyed) await new Promise((resolve) => socket.write(text, resolve));
}

async function readToEnd(socket: Socket): Promise<string> {
  let text = '';
  socket.setEncoding('latin1').on('data', (chunk: string) => {
    text += chunk;
  });
  if (!socket.destroyed) await Promise.race([once(socket, 'end'), once(socket, 'close')]);
  return text;
}

const statusesOf = (text: string): number[] =>
  [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));

const connectionsOf = ({ http }: ServerUnderTest): Promise<number> =>
  new Promise((resolve) => http.server.getConnections((_error, count) => resolve(count)));

/** Also before another test takes the timers over, with which theirs could not be ended any more. */
const allEnded = (server: ServerUnderTest): Promise<unknown> =>
  until(async () => (await connectionsOf(server)) === 0, { what: 'the ends' });

describe('bodies that are refused unread', () => {
  it('are answered to a client that reads only after it wrote all of them', async (t) => {
    const server = await startHttp(t);
    const routes: readonly (readonly [string, readonly string[], number])[] = [
      [RESTART, [full, json], 413],
      ['POST /webhooks/hook/main', [], 413],
      [RESTART, [json], 401],
      ['POST /api/none', [full, json], 404],
      [RESTART, [full, json, 'Expect: 100-continue'], 413],
    ];
    for (const [line, headers, status] of routes)
      for (const { header, piece, end } of framings(30)) {
        const { socket, fault } = open(t, server.port);
        await write(socket, requestText(line, [...headers, header]));
        for (let n = 0; n < 30; n += 1) await write(socket, piece);
        await write(socket, end);

        const text = await readToEnd(socket);

        assert.equal(fault(), undefined, `${line}, ${header}`);
        assert.deepEqual(statusesOf(text).at(-1), status, `${line}, ${header}`);
        assert.match(text, /^Connection: close\r$/m);
        socket.end();
      }
    await allEnded(server);
    assert.deepEqual(server.host.calls, []);
  });

  it('end their connection: what comes behind them is no request any more', async (t) => {
    const server = await startHttp(t);
    const behind = [
      requestText(RESTART, [full]),
      requestText(RESTART, [full, json, 'Content-Length: 2'], '{}'),
      requestText('POST /webhooks/hook/main', ['X-Signature: x', 'Expect: 100-continue', 'Content-Length: 2'], '{}'),
      requestText('GET /api/ws', [full, 'Connection: Upgrade', 'Upgrade: websocket']),
      'CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n',
      'garbage\r\n\r\n',
    ];
    for (const next of behind)
      for (const { header, piece, end } of framings(1)) {
        const { socket, fault } = open(t, server.port);
        // The second of it is in one packet with the end of the body, the third comes alone.
        await write(socket, requestText('POST /api/none', [json, header]) + piece + end + next);
        await write(socket, next);
        const text = await readToEnd(socket);

        assert.deepEqual([fault(), statusesOf(text)], [undefined, [404]], next);
        socket.end();
      }
    await allEnded(server);
    assert.deepEqual(server.host.calls, []);
    assert.equal(server.host.observed.length, 2 * behind.length);
  });

  it('are answered behind the answers that were asked for before', async (t) => {
    const server = await startHttp(t);
    const answer = holdStatus(server);
    const { socket, fault } = open(t, server.port);
    const [{ header, piece } = { header: '', piece: '' }] = framings(30);
    const first = requestText('GET /api/system/status', [full]);
    const sent = write(socket, first + requestText(RESTART, [full, json, header]) + piece.repeat(30));
    await until(async () => (await sendRaw(server.port, requestText('GET /pub/health'))).status === 200, {
      what: 'what was sent is read',
    });

    answer();
    await sent;

    assert.deepEqual(statusesOf(await readToEnd(socket)), [200, 413]);
    assert.equal(fault(), undefined);
    socket.end();
    await allEnded(server);
  });

  it('are dropped up to a bound, by bytes and by time, in silence and not', async (t) => {
    t.mock.timers.enable({ apis: ['setInterval'] });
    const server = await startHttp(t);
    let taken: Socket | undefined;
    server.http.server.on('connection', (socket) => {
      taken = socket;
    });
    const isOpen = async (): Promise<boolean> => (await connectionsOf(server)) > 0;
    const begin = async (): Promise<Socket> => {
      const { socket } = open(t, server.port);
      await write(socket, requestText(RESTART, [full, json, `Content-Length: ${2 ** 40}`]));
      await once(socket, 'readable');
      return socket;
    };

    const silent = await begin();
    const before = taken?.bytesRead ?? 0;
    t.mock.timers.tick(4_000);
    await write(silent, 'x');
    await until(() => (taken?.bytesRead ?? 0) > before, { what: 'the word' });
    t.mock.timers.tick(5_000);
    assert.equal(taken?.destroyed, false);
    t.mock.timers.tick(1_000);
    await until(async () => !(await isOpen()), { what: 'the end of the silent one' });

    const slow = await begin();
    for (let seconds = 0; seconds < 30; seconds += 1) {
      const before = taken?.bytesRead ?? 0;
      await write(slow, 'x');
      await until(() => (taken?.bytesRead ?? 0) > before, { what: 'the word' });
      assert.equal(taken?.destroyed, false);
      t.mock.timers.tick(1_000);
    }
    await until(async () => !(await isOpen()), { what: 'the end of the slow one' });

    const endless = await begin();
    let mib = 0;
    while (!endless.destroyed && mib < 1_000) {
      await write(endless, PIECE);
      mib += 1;
    }
    assert.ok(mib >= 64 && mib < 1_000, `${mib} MiB were taken`);
  });
});
