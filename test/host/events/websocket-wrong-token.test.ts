// A token that is none of the host's and came by the browsers' pair of subprotocols: a browser is told by a close frame, since it shows its page no
// status of a refused handshake.
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import { WebSocket } from 'ws';
import { FULL_TOKEN } from '../../support/hosts/fake-host-port.ts';
import { type ServerUnderTest, startHttp } from '../../support/http/http-server.ts';
import { requestText } from '../../support/http/raw-http.ts';
import { bearerProtocol, UPGRADE_HEADERS } from '../../support/http/web-socket-request.ts';
import { until } from '../../support/until.ts';

const wrongPair = `Sec-WebSocket-Protocol: svc.v1, ${bearerProtocol('wrong')}`;

/** The end of a WebSocket as a browser sees it. */
function ended(port: number, protocols: readonly string[], options: WebSocket.ClientOptions = {}) {
  const webSocket = new WebSocket(`ws://127.0.0.1:${port}/api/ws`, [...protocols], options);
  let messages = 0;
  webSocket.on('message', () => {
    messages += 1;
  });
  return new Promise((resolve) => {
    webSocket.on('error', ({ message }) => resolve(message));
    webSocket.on('close', (code, reason) =>
      resolve({ code, reason: reason.toString(), protocol: webSocket.protocol, messages }),
    );
  });
}

const closed = { code: 1008, reason: 'this token is not known', protocol: 'svc.v1', messages: 0 };

const factsOf = ({ host }: ServerUnderTest): readonly string[] =>
  host.observed.map(({ kind, status, route }) => `${kind} ${status} ${route}`);

const connectionsOf = ({ http }: ServerUnderTest): Promise<number> =>
  new Promise((resolve) => http.server.getConnections((_error, count) => resolve(count)));

function open(t: TestContext, port: number) {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  let text = '';
  t.after(() => socket.destroy());
  socket
    .on('error', () => {})
    .setEncoding('latin1')
    .on('data', (chunk: string) => {
      text += chunk;
    });
  return { socket, text: () => text };
}

describe('a wrong token in the pair of subprotocols', () => {
  it('opens the WebSocket only to close it with 1008, and counts as a wrong token', async (t) => {
    const server = await startHttp(t, { corsOrigins: ['https://console.example'], failures: { limit: 3 } });

    const ends = [
      await ended(server.port, ['svc.v1', bearerProtocol('wrong')]),
      await ended(server.port, [bearerProtocol('wrong'), 'svc.v1'], { origin: 'https://console.example' }),
    ];
    const byHeader = await ended(server.port, ['svc.v1'], { headers: { authorization: 'Bearer wrong' } });
    const overBudget = await ended(server.port, ['svc.v1', bearerProtocol('wrong')]);

    assert.deepEqual(ends, [closed, closed]);
    assert.match(String(byHeader), /401/);
    assert.match(String(overBudget), /429/);
    const counted = ['401', '401', '401', '429'].map((status) => `auth_failed ${status} /api/ws`);
    await until(() => server.host.observed.length === counted.length, { what: 'all to be counted' });
    assert.deepEqual(factsOf(server), counted);
  });

  it('is told so only to whom a page may speak for, in good form', async (t) => {
    const server = await startHttp(t);
    const refused: readonly (readonly [readonly string[], number])[] = [
      [[wrongPair, 'Origin: http://evil.example'], 403],
      [[`Sec-WebSocket-Protocol: svc.v1, ${bearerProtocol('wrong')}, ${bearerProtocol('wrong')}`], 400],
      [[`Sec-WebSocket-Protocol: ${bearerProtocol('wrong')}`], 400],
      [['Sec-WebSocket-Protocol: svc.v1, svc.bearer.'], 400],
      [[wrongPair, 'Authorization: Bearer wrong'], 400],
      [['Sec-WebSocket-Protocol: svc.v1'], 401],
    ];
    for (const [headers, status] of refused)
      assert.equal(
        (await server.raw('GET /api/ws', [...UPGRADE_HEADERS, ...headers])).status,
        status,
        headers.join(', '),
      );
  });

  it('has nothing read of what is sent behind it, and ends the connection', async (t) => {
    const server = await startHttp(t);
    let upgrades = 0;
    server.host.events.upgrade = async () => {
      upgrades += 1;
    };
    const { socket, text } = open(t, server.port);
    const next = requestText('POST /api/system/restart', [`Authorization: Bearer ${FULL_TOKEN}`]);

    socket.write(requestText('GET /api/ws', [...UPGRADE_HEADERS, wrongPair]) + next);
    await until(() => text().includes('this token is not known'), { what: 'the close frame' });
    socket.write(next.repeat(1_000));
    await until(async () => (await connectionsOf(server)) === 0, { what: 'the end, whatever the client does' });

    const [head = '', frames = ''] = text().split('\r\n\r\n');
    assert.match(head, /^HTTP\/1\.1 101 Switching Protocols\r\n/);
    assert.match(head, /^Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK\+xOo=\r?$/m);
    assert.match(head, /^Sec-WebSocket-Protocol: svc\.v1\r?$/m);
    assert.match(head, /^X-Request-Id: \S+\r?$/m);
    assert.equal(frames, '\x88\x19\x03\xf0this token is not known');
    assert.deepEqual([server.host.calls, upgrades], [[], 0]);
  });
});
