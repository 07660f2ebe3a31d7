// The HTTP server before its host is up: probes and the report are answered, everything else waits for the start.
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { describe, it } from 'node:test';
import { SvcError } from '../../../shared/svc-error.ts';
import { StartGate } from '../../../worker/http/server/start-gate.ts';
import { FULL_TOKEN, WEBHOOK_SECRET } from '../../support/hosts/fake-host-port.ts';
import { type ServerUnderTest, startHttp } from '../../support/http/http-server.ts';
import { requestText } from '../../support/http/raw-http.ts';
import { until } from '../../support/until.ts';

const full = `Authorization: Bearer ${FULL_TOKEN}`;
const SIGNED = `X-Signature: ${WEBHOOK_SECRET}`;
const EMPTY = 'Content-Length: 0';

describe('a server whose host is starting', () => {
  it('answers probes and the readiness report at once, in any form', async (t) => {
    const server = await startHttp(t, { gate: new StartGate(), base: '/bot' });
    server.host.isReady = false;

    const statuses = [];
    for (const [line, headers] of [
      ['GET /pub/health', []],
      ['GET /bot/pub/health?x=1', []],
      ['GET /pub/ready', ['Origin: https://a.example']],
      ['HEAD /pub/health', ['Connection: close']],
      ['GET /bot/api/system/readiness', [full]],
      ['GET /bot/api/system/readiness', []],
      ['GET /pub/health', ['Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AA']],
    ] as const)
      statuses.push((await server.raw(line, headers)).status);

    assert.deepEqual(statuses, [200, 200, 503, 200, 503, 401, 200]);
  });

  it('lets all other requests wait, and begins them in their order once the host is up', async (t) => {
    const gate = new StartGate();
    const server = await startHttp(t, { gate });
    const arrived = arrivals(server);
    const begun: string[] = [];
    const { deliver } = server.host.deliveries;
    server.host.deliveries.deliver = async (delivery) => {
      begun.push(Buffer.from(delivery.body).toString());
      return deliver(delivery);
    };
    const answers = [];
    for (const body of ['1', '2', '3']) {
      answers.push(server.raw('POST /webhooks/hook', [SIGNED, `Content-Length: ${body.length}`], body));
      await arrived(answers.length);
    }
    const pipelined = connect(server.port, '127.0.0.1').on('error', () => {}); // its end may be a reset
    let text = '';
    pipelined.on('data', (chunk) => (text += chunk.toString()));
    pipelined.write(requestText('POST /api/system/restart', [full, EMPTY]) + requestText('GET /pub/health', []));
    await arrived(4);
    assert.equal((await server.raw('GET /pub/health')).status, 200);
    const early = [...begun, ...server.host.calls, text];

    gate.open();

    for (const answer of answers) assert.equal((await answer).status, 202);
    await until(() => text.split('HTTP/1.1 ').length === 3, { what: 'both answers' });
    assert.deepEqual(early, ['']);
    assert.deepEqual(begun, ['1', '2', '3']);
    assert.match(text, /^HTTP\/1\.1 202[^]*HTTP\/1\.1 200/);
    pipelined.destroy();
  });

  it('lets a WebSocket wait, and what only offers an upgrade', async (t) => {
    const gate = new StartGate();
    const server = await startHttp(t, { gate });
    const arrived = arrivals(server);
    let upgraded = 0;
    server.host.events.upgrade = async (_request, socket) => {
      upgraded += 1;
      socket.end('HTTP/1.1 101 Switching Protocols\r\n\r\n');
    };
    const key = ['Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==', 'Sec-WebSocket-Version: 13'];
    const webSocket = server.raw('GET /api/ws', [full, 'Connection: Upgrade', 'Upgrade: websocket', ...key]);
    const offers = server.raw('GET /api/system/status', [full, 'Connection: Upgrade', 'Upgrade: h2c']);
    await arrived(2);
    const early = upgraded;

    gate.open();

    assert.deepEqual([early, (await webSocket).status, (await offers).status, upgraded], [0, 101, 200, 1]);
  });

  it('tells who has waited for too long to come again', async (t) => {
    const server = await startHttp(t, { gate: new StartGate({ mostWaitMs: 1 }) });

    const { status, headers, body } = await server.raw('POST /webhooks/hook', ['Content-Length: 2'], '{}');

    assert.deepEqual([status, headers['retry-after'], JSON.parse(body).code], [503, '2', 'starting']);
    assert.deepEqual(server.host.calls, []);
  });

  it('refuses all that wait when it is stopped before it was up, and what comes later', async (t) => {
    const server = await startHttp(t, { gate: new StartGate() });
    const arrived = arrivals(server);
    const waiting = server.raw('POST /webhooks/hook', ['Content-Length: 2'], '{}');
    await arrived(1);

    server.http.beginNothing();

    for (const { status, headers, body } of [await waiting, await server.raw('GET /api/system/status', [full])])
      assert.deepEqual(
        [status, headers['retry-after'], headers['connection'], JSON.parse(body).code],
        [503, '2', 'close', 'draining'],
      );
    assert.equal((await server.raw('GET /pub/health')).status, 200);
  });
});

describe('a start gate', () => {
  it('stays open once it was', async () => {
    const gate = new StartGate();
    const passed = gate.pass();
    gate.open();
    gate.refuse(new SvcError('draining', 'late'));

    await passed;
    await gate.pass();
    assert.equal(gate.isOpen, true);
  });
});

/** Waits until so many requests and upgrades have arrived. */
function arrivals({ http: { server } }: ServerUnderTest): (count: number) => Promise<unknown> {
  let arrived = 0;
  for (const event of ['request', 'upgrade']) server.on(event, () => (arrived += 1));
  return (count) => until(() => arrived >= count, { what: `${count} requests` });
}
