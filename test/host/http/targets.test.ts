// Hostile inputs 12 to 17: targets that two parsers could read differently, methods, HEAD, OPTIONS and origins.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ROUTES } from '../../../worker/http/routes/route-table.ts';
import { FULL_TOKEN } from '../../support/hosts/fake-host-port.ts';
import { type ServerUnderTest, startHttp } from '../../support/http/http-server.ts';
import { sendRaw } from '../../support/http/raw-http.ts';
import { examplePath } from '../../support/http/route-examples.ts';

const full = `Authorization: Bearer ${FULL_TOKEN}`;

async function stillServes(server: ServerUnderTest): Promise<void> {
  assert.equal((await server.raw('GET /pub/health')).status, 200);
}

const BYPASSES = [
  '/pub/%2e%2e/api/system/readiness',
  '/pub/..;/api/system/readiness',
  '/pub/../api/system/readiness',
  '/pub/./health',
  '/api%2fsystem/readiness',
  '/api%2Fsystem/readiness',
  '/api%5csystem/readiness',
  '/api\\system\\readiness',
  '/%61pi/system/readiness',
  '/api/system/readiness%00',
  '/api/system/readiness%0a',
  '/api/system/readiness%',
  '/api/system/readiness%zz',
  '/api/system/readiness%ff',
  '/api/system/readiness%c0%af',
  '/api//system/readiness',
  '/api/system/readiness#x',
  '/api/system/r\u00e9adiness',
  '//evil/api/system/readiness',
  'http://evil/api/system/readiness',
  'http://127.0.0.1/api/system/readiness',
  'api/system/readiness',
  '*',
  '/api/system/readiness?a=1&a=2',
  '/api/system/readiness?a=%',
  '/api/system/readiness?a=%00',
];

describe('targets over HTTP', () => {
  it('refuses every target that has two readings, with and without a token', async (t) => {
    const server = await startHttp(t);
    for (const target of BYPASSES) {
      for (const headers of [[], [full]]) {
        const { status } = await server.raw(`GET ${target}`, headers);
        assert.equal(status, 400, `${target} ${headers.length}`);
      }
    }
    await stillServes(server);
  });

  it('has nothing at other spellings of a path', async (t) => {
    const server = await startHttp(t);
    for (const path of [
      '/API/system/readiness',
      '/api/system/readiness/',
      '/api/system',
      '/api',
      '/api/',
      '/pub',
      '/pub/health/',
      '/PUB/health',
      '/nothing',
    ]) {
      assert.equal((await server.raw(`GET ${path}`, [full])).status, 404, path);
    }
  });

  it('answers a method that is not there with 405 and Allow, and does nothing', async (t) => {
    const server = await startHttp(t);
    for (const method of ['TRACE', 'PUT', 'PATCH', 'DELETE', 'PROPFIND', 'M-SEARCH']) {
      const answer = await server.raw(`${method} /api/system/restart`);
      assert.equal(answer.status, 405, method);
      assert.equal(answer.headers.allow, 'OPTIONS, POST');
    }
    assert.equal((await server.raw('POST /api/system/status')).headers.allow, 'GET, HEAD, OPTIONS');
    assert.equal((await server.raw('PUT /plugins/echo/open')).headers.allow, 'GET, HEAD, OPTIONS, POST');
    assert.equal((await server.raw('GET /webhooks/hook/main')).status, 405);
    assert.equal((await server.raw('GET /webhooks/nothing')).status, 404);
    for (const line of ['foo /api/system/status', 'CONNECT 127.0.0.1:80', 'QUERY /api/system/status']) {
      assert.ok([400, 405].includes((await server.raw(line)).status), line);
    }
    assert.deepEqual(server.host.calls, []);
    await stillServes(server);
  });

  it('answers HEAD like GET, without a body and without a stream', async (t) => {
    const server = await startHttp(t);
    for (const route of ROUTES.filter(
      ({ method, path }) => method === 'GET' && path !== '/' && path !== '/{file+}' && path !== '/api/ws',
    )) {
      const path = `${examplePath(route)}${route.path === '/api/chat/messages' ? '?person=a' : ''}`;
      const isStream = route.path === '/api/events';
      const expected = isStream ? 200 : (await server.raw(`GET ${path}`, [full])).status;

      const head = await sendRaw(
        server.port,
        `HEAD ${path} HTTP/1.1\r\nHost: a\r\n${full}\r\nConnection: close\r\n\r\n`,
      );

      assert.equal(head.status, expected, path);
      assert.equal(head.body, '', path);
    }
    const refused = await server.raw('HEAD /api/events?gap=fail&lastEventId=x', [full, 'Connection: close']);
    assert.equal(refused.status, 410);
    assert.equal(server.host.streams.size, 0);
  });

  it('answers preflights with fixed lists, to listed origins alone', async (t) => {
    const server = await startHttp(t, { corsOrigins: ['https://console.example'] });
    const preflight = async (origin: string | undefined) =>
      server.raw('OPTIONS /api/events', [
        ...(origin === undefined ? [] : [`Origin: ${origin}`]),
        'Access-Control-Request-Method: GET',
        'Access-Control-Request-Headers: authorization, last-event-id',
      ]);

    const listed = await preflight('https://console.example');
    assert.equal(listed.status, 204);
    assert.equal(listed.headers['access-control-allow-origin'], 'https://console.example');
    assert.equal(
      listed.headers['access-control-allow-headers'],
      'authorization, last-event-id, content-type, idempotency-key, if-match',
    );
    assert.equal(listed.headers['access-control-max-age'], '600');
    assert.equal(listed.headers['access-control-allow-credentials'], undefined);
    for (const origin of ['https://evil.example', 'null', 'https://console.example.evil.example', undefined]) {
      const answer = await preflight(origin);
      assert.equal(answer.status, 204, origin);
      assert.equal(answer.headers['access-control-allow-origin'], undefined, origin);
      assert.equal(answer.headers.vary, 'Origin', origin);
    }
    assert.equal((await server.raw('OPTIONS /api/nothing')).status, 404);
  });

  it('names a listed origin on answers and problems too', async (t) => {
    const server = await startHttp(t, { corsOrigins: ['https://console.example'] });
    for (const headers of [[full], []]) {
      const answer = await server.raw('GET /api/system/status', ['Origin: https://console.example', ...headers]);
      assert.equal(answer.headers['access-control-allow-origin'], 'https://console.example');
    }
  });

  it('answers in the order 400, 404, 405, then 401', async (t) => {
    const server = await startHttp(t);
    const twoHosts = 'Host: other';

    assert.equal((await server.raw('GET /api/nothing', [twoHosts])).status, 400);
    assert.equal((await server.raw('GET /api/nothing')).status, 404);
    assert.equal((await server.raw('DELETE /api/system/status')).status, 405);
    assert.equal((await server.raw('GET /api/system/status')).status, 401);
  });

  it('serves probes at the root and below the base, everything else below the base alone', async (t) => {
    const server = await startHttp(t, { base: '/bot' });
    const status = async (path: string): Promise<number> => (await server.raw(`GET ${path}`, [full])).status;

    assert.deepEqual(
      [
        await status('/pub/health'),
        await status('/pub/ready'),
        await status('/bot/pub/health'),
        await status('/bot/pub/ready'),
      ],
      [200, 200, 200, 200],
    );
    assert.deepEqual(
      [
        await status('/bot/api/system/status'),
        await status('/api/system/status'),
        await status('/botapi/system/status'),
      ],
      [200, 404, 404],
    );
    assert.deepEqual([await status('/pub/health?now=1'), await status('/bot/pub/ready?now=1')], [200, 200]);
  });

  it('tells who forgot the base of it, and nobody what it is', async (t) => {
    const server = await startHttp(t, { base: '/bot-of-mine' });

    for (const token of [[full], []]) {
      const { status, body } = await server.raw('GET /api/system/status', token);
      assert.equal(status, 404);
      assert.match(JSON.parse(body).hint, /\bhttp\.base\b/);
      assert.doesNotMatch(body, /bot-of-mine/);
    }
  });

  it('says no more than ready or not on /pub/ready, uncached', async (t) => {
    const server = await startHttp(t);
    const ready = await server.raw('GET /pub/ready');
    server.host.isReady = false;
    const notReady = await server.raw('GET /pub/ready');

    assert.deepEqual([ready.status, ready.body], [200, '{"ready":true}']);
    assert.deepEqual([notReady.status, notReady.body], [503, '{"ready":false}']);
    assert.equal(notReady.headers['cache-control'], 'no-store');
    const health = await server.raw('GET /pub/health');
    assert.deepEqual(
      [health.status, health.body, (await server.raw('GET /api/system/readiness', [full])).status],
      [200, '{"status":"ok"}', 503],
    );
  });
});
