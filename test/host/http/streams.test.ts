// Hostile inputs 36 to 38 at the edge of HTTP: event streams and WebSockets before anything streams.
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { describe, it } from 'node:test';
import type { StreamRequest } from '../../../worker/http/api/events-api.ts';
import { ROUTES } from '../../../worker/http/routes/route-table.ts';
import { DEMO_TOKEN, FULL_TOKEN } from '../../support/hosts/fake-host-port.ts';
import { type ServerUnderTest, startHttp } from '../../support/http/http-server.ts';
import { requestText, sendRaw } from '../../support/http/raw-http.ts';
import { examplePath } from '../../support/http/route-examples.ts';
import { bearerProtocol, UPGRADE_HEADERS } from '../../support/http/web-socket-request.ts';
import { until } from '../../support/until.ts';

const full = `Authorization: Bearer ${FULL_TOKEN}`;

async function stillServes(server: ServerUnderTest): Promise<void> {
  assert.equal((await server.raw('GET /pub/health')).status, 200);
}

describe('event streams over HTTP', () => {
  it('hands every kind of Last-Event-ID on and cuts none in silence', async (t) => {
    const server = await startHttp(t, { limits: { streamsPerToken: 100 } });
    const seen: (string | undefined)[] = [];
    const { events } = server.host;
    const stream = events.stream.bind(events);
    server.host.events.stream = async (request, response, options: StreamRequest) => {
      seen.push(options.lastEventId);
      await stream(request, response, options);
    };
    const ids = ['abcdefgh12345678.99999999', 'garbage', 'x'.repeat(4_000), 'zzzzzzzzzzzzzzzz.1', ''];
    for (const id of ids) {
      assert.equal((await server.raw('GET /api/events?lastEventId=other', [full, `Last-Event-ID: ${id}`])).status, 200);
    }
    assert.deepEqual(seen, [...ids.slice(0, -1), 'other'], 'the header beats the query, unless it is empty');
    assert.equal(
      (await server.raw('GET /api/events', [full, `Last-Event-ID: ${'x'.repeat(1024 * 1024)}`])).status,
      431,
    );
    await stillServes(server);
  });

  it('takes no parameter of a page for the stream, and none of the stream for a page: it would begin elsewhere', async (t) => {
    const server = await startHttp(t);
    for (const query of ['after=abcdefgh12345678.1', 'limit=5', 'format=sse&limit=5', 'format=json&lastEventId=x']) {
      const answer = await server.raw(`GET /api/events?${query}`, [full]);
      const { code, detail } = JSON.parse(answer.body) as { code: string; detail: string };
      assert.deepEqual([answer.status, code], [400, 'invalid_request'], query);
      assert.match(detail, /^the parameter (after|limit|lastEventId) is not one of (the stream|a page)$/);
    }
    assert.equal((await server.raw('GET /api/events?format=json&after=x&limit=5', [full])).status, 200);
  });

  it('answers 410 as a problem before any byte of a stream when a gap is to fail', async (t) => {
    const server = await startHttp(t);

    const answer = await server.raw('GET /api/events?gap=fail', [full, 'Last-Event-ID: gone']);

    assert.equal(answer.status, 410);
    assert.equal(answer.headers['content-type'], 'application/problem+json');
    assert.equal((JSON.parse(answer.body) as { code: string }).code, 'history_expired');
  });

  it('opens no more streams with one token than its limit, and counts them off', async (t) => {
    const server = await startHttp(t, { limits: { streamsPerToken: 2 } });
    const sockets = [1, 2].map(() => connect(server.port, '127.0.0.1').on('error', () => {}));
    for (const socket of sockets) {
      socket.on('error', () => {}).resume();
      socket.write(requestText('GET /api/events', [full]));
    }
    await until(() => server.host.streams.size === 2, { what: 'two streams' });

    const third = await server.raw('GET /api/events', [full]);
    const socketToo = await server.raw('GET /api/ws', [full, ...UPGRADE_HEADERS]);
    assert.deepEqual([third.status, socketToo.status], [429, 429]);
    assert.ok(Number(third.headers['retry-after']) >= 1);
    assert.equal((await server.raw('GET /api/events?format=json', [full])).status, 200);

    sockets[0]?.destroy();
    await until(() => server.host.streams.size === 1, { what: 'one stream less' });
    assert.equal((await server.raw('GET /api/events', [full])).status, 200);
    sockets[1]?.destroy();
    await stillServes(server);
  });

  it('are cut by no limit of a request', async (t) => {
    const server = await startHttp(t, { timeouts: { headersMs: 2_000, requestMs: 3_000, checkMs: 20 } });
    const socket = connect(server.port, '127.0.0.1')
      .on('error', () => {})
      .resume();
    t.after(() => socket.destroy());
    socket.write(requestText('GET /api/events', [full]));
    await until(() => server.host.streams.size === 1, { what: 'the stream' });

    const unfinished = requestText('PUT /api/system/ingress', [
      full,
      'Content-Type: application/json',
      'Content-Length: 9',
    ]);
    const [slow, slower] = await Promise.all([
      sendRaw(server.port, 'GET /pub/health HTTP/1.1\r\n'),
      sendRaw(server.port, unfinished),
    ]);

    assert.deepEqual([slow.status, slower.status], [408, 408], 'both limits are over for requests of later');
    assert.equal(server.host.streams.size, 1);
  });

  it('count with the time until they begin, not with how long they stay open', async (t) => {
    const server = await startHttp(t);
    const clock = t.mock.method(performance, 'now', () => 1_000);
    const socket = connect(server.port, '127.0.0.1').resume();
    socket.write(requestText('GET /api/events', [full]));
    await until(() => server.host.streams.size === 1, { what: 'the stream' });

    clock.mock.mockImplementation(() => 61_000);
    socket.destroy();
    await until(() => server.host.observed.length === 1, { what: 'its end' });

    const [fact] = server.host.observed;
    assert.deepEqual([fact?.route, fact?.status, fact?.ms], ['/api/events', 200, 0]);
  });

  it('names the position of a snapshot, read before its data', async (t) => {
    const server = await startHttp(t);
    let position = 1;
    server.host.events.position = () => `abcdefgh12345678.${position}`;
    server.host.system.status = async () => {
      position = 2;
      return {};
    };

    const answer = await server.raw('GET /api/system/status', [full]);

    assert.equal(answer.headers['svc-event-position'], 'abcdefgh12345678.1');
    assert.equal((await server.raw('GET /api/system/status')).headers['svc-event-position'], undefined);
    const reads = ROUTES.filter(({ method, path }) => method === 'GET' && path.startsWith('/api/'));
    const streams = ['/api/ws', '/api/events'];
    for (const route of reads.filter(({ path }) => !streams.includes(path))) {
      const path = `${examplePath(route)}${route.path === '/api/chat/messages' ? '?person=a' : ''}`;
      const { headers } = await server.raw(`GET ${path}`, [full]);
      assert.match(headers['svc-event-position'] ?? '', /^abcdefgh12345678\.\d+$/, path);
    }
  });
});

describe('WebSocket upgrades', () => {
  const refused: Readonly<Record<string, readonly [readonly string[], number]>> = {
    'no token': [[], 401],
    'a wrong token': [['Authorization: Bearer wrong'], 401],
    'a foreign origin': [[full, 'Origin: http://evil.example'], 403],
    'the origin null': [[full, 'Origin: null'], 403],
    'a wrong subprotocol': [[full, 'Sec-WebSocket-Protocol: chat'], 400],
    'a bearer without the protocol': [[`Sec-WebSocket-Protocol: ${bearerProtocol(FULL_TOKEN)}`], 400],
    'two bearers': [
      [`Sec-WebSocket-Protocol: svc.v1, ${bearerProtocol(FULL_TOKEN)}, ${bearerProtocol(FULL_TOKEN)}`],
      400,
    ],
    'a header and a bearer': [[full, `Sec-WebSocket-Protocol: svc.v1, ${bearerProtocol(FULL_TOKEN)}`], 400],
    'a bearer that is no base64url': [[`Sec-WebSocket-Protocol: svc.v1, svc.bearer.${FULL_TOKEN}+`], 400],
    'two Authorization headers': [[full, full], 400],
  };
  it('answers refusals as HTTP before the upgrade', async (t) => {
    const server = await startHttp(t);
    for (const [name, [headers, status]] of Object.entries(refused)) {
      const answer = await server.raw('GET /api/ws', [...UPGRADE_HEADERS, ...headers]);
      assert.equal(answer.status, status, name);
      assert.equal(answer.headers['content-type'], 'application/problem+json', name);
      assert.equal(answer.headers.connection, 'close', name);
    }
    assert.equal((await server.raw(`GET /api/ws?token=${FULL_TOKEN}`, UPGRADE_HEADERS)).status, 400);
    assert.equal((await server.raw(`GET /api/ws?bearer=${FULL_TOKEN}`, [...UPGRADE_HEADERS, full])).status, 400);
    assert.equal((await server.raw('GET /api/nothing', [...UPGRADE_HEADERS, full])).status, 404);
    await stillServes(server);
  });

  it('refuses a malformed handshake in its own words, before it looks for a token', async (t) => {
    const server = await startHttp(t);
    const [connection = '', offer = '', version = '', key = ''] = UPGRADE_HEADERS;
    const cases: readonly (readonly [headers: readonly string[], status: number])[] = [
      [[connection, offer, version], 400],
      [[connection, offer, version, 'Sec-WebSocket-Key: short'], 400],
      [[connection, offer, key], 426],
      [[connection, offer, key, 'Sec-WebSocket-Version: 12'], 426],
    ];
    for (const [headers, status] of cases) {
      const answer = await server.raw('GET /api/ws', headers);
      assert.deepEqual([answer.status, answer.headers['content-type']], [status, 'application/problem+json']);
      assert.equal(answer.headers['x-content-type-options'], 'nosniff');
      assert.equal(answer.headers['sec-websocket-version'], status === 426 ? '13' : undefined);
    }
    const withBody = await server.raw('GET /api/ws', [...UPGRADE_HEADERS, full, 'Content-Length: 3'], 'abc');
    const early = await sendRaw(server.port, ['GET /api/ws HTTP/1.0', ...UPGRADE_HEADERS, full, '', ''].join('\r\n'));
    assert.deepEqual([withBody.status, early.status], [400, 426]);
  });

  it('lets the header, the subprotocol pair, the own and a listed origin in', async (t) => {
    const server = await startHttp(t, {
      corsOrigins: ['https://console.example'],
      publicOrigin: 'https://bot.example',
    });
    const cases: readonly (readonly string[])[] = [
      [full],
      [`Sec-WebSocket-Protocol: svc.v1, ${bearerProtocol(FULL_TOKEN)}`],
      [`Sec-WebSocket-Protocol: ${bearerProtocol(DEMO_TOKEN)}, svc.v1`],
      [full, 'Origin: http://127.0.0.1'],
      [full, 'Origin: https://console.example'],
      [full, 'Origin: https://bot.example'],
      [full, 'Sec-WebSocket-Protocol: svc.v1'],
    ];
    const actors = await Promise.all(
      cases.map(
        async (headers) => (await server.raw('GET /api/ws', [...UPGRADE_HEADERS, ...headers])).headers['x-actor'],
      ),
    );

    const [main, demo] = ['token:main', 'token:demo'];
    assert.deepEqual(actors, [main, main, demo, main, main, main, main]);
  });

  it('asks for an upgrade where there is none', async (t) => {
    const server = await startHttp(t);

    const answer = await server.raw('GET /api/ws', [full]);

    assert.deepEqual([answer.status, answer.headers.upgrade], [426, 'websocket']);
  });
});
