// The HTTP interface as the contract says: problems, changes done once and on the right revision, scopes.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SvcError } from '../../../shared/svc-error.ts';
import { ROUTES } from '../../../worker/http/routes/route-table.ts';
import { DEMO_TOKEN, FULL_TOKEN } from '../../support/hosts/fake-host-port.ts';
import { startHttp } from '../../support/http/http-server.ts';
import { examplePath } from '../../support/http/route-examples.ts';

const full = `Authorization: Bearer ${FULL_TOKEN}`;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

describe('problems', () => {
  it('hold type, title, status, code and a request id that no client chose', async (t) => {
    const server = await startHttp(t);

    const answer = await server.raw('GET /api/nothing', ['X-Request-Id: mine']);

    const problem = JSON.parse(answer.body) as Record<string, unknown>;
    assert.equal(answer.headers['content-type'], 'application/problem+json');
    assert.deepEqual([problem.type, problem.status, problem.code], ['urn:svc:problem:not_found', 404, 'not_found']);
    assert.equal(typeof problem.title, 'string');
    assert.match(String(problem.requestId), UUID);
    assert.equal(answer.headers['x-request-id'], problem.requestId);
  });

  it('say nothing of an error inside, and the host goes on', async (t) => {
    const server = await startHttp(t);
    server.host.failure = new Error('cannot open /srv/bot/.svc/data.sqlite');

    const reload = await server.raw('POST /api/system/reload', [full]);
    const echo = server.host.deliveries.pluginRoute('POST', 'echo', '/closed');
    assert.ok(echo !== undefined && 'scope' in echo);
    const plugin = await server.raw('GET /plugins/echo/broken', [full]);

    for (const answer of [reload, plugin]) {
      assert.equal(answer.status, 500);
      assert.ok(!/srv|stack|at |detail/.test(answer.body.replaceAll('"status"', '')), answer.body);
    }
    assert.ok(server.logged.some((line) => line.includes('data.sqlite')));
    server.host.failure = undefined;
    assert.equal((await server.raw('POST /api/system/reload', [full])).status, 200);
  });

  it('give reasons and a remedy to full scope', async (t) => {
    const server = await startHttp(t);
    server.host.failure = new SvcError('reload_refused', 'the plugin echo does not assemble', {
      hint: 'svc config check',
      details: { reasons: ['root/echo: throws'] },
    });

    const problem = (await (await server.fetch('/api/system/reload', { method: 'POST' })).json()) as Record<
      string,
      unknown
    >;

    assert.equal(problem.code, 'reload_refused');
    assert.equal(problem.hint, 'svc config check');
    assert.deepEqual(problem.details, { reasons: ['root/echo: throws'] });
  });

  it('stand for what a plugin answers that no answer can be', async (t) => {
    const server = await startHttp(t);

    const switched = await server.raw('GET /plugins/echo/switch', [full]);
    const split = await server.raw('GET /plugins/echo/split', [full]);

    assert.deepEqual([switched.status, JSON.parse(switched.body).code], [500, 'plugin_failed']);
    assert.match(split.text, /^HTTP\/1\.1 500 Internal Server Error\r\n/);
  });

  it('say when to come back while ingress is closed', async (t) => {
    const server = await startHttp(t);
    server.host.failure = new SvcError('ingress_paused', 'paused', { details: { retryAfterMs: 30_000 } });

    const answer = await server.raw('POST /webhooks/hook', ['Content-Length: 0']);

    assert.deepEqual([answer.status, answer.headers['retry-after']], [503, '30']);
  });
});

describe('headers of every answer', () => {
  it('forbid sniffing, framing and caching, and name no server', async (t) => {
    const server = await startHttp(t);
    for (const [line, headers] of [
      ['GET /pub/health', []],
      ['GET /pub/ready', []],
      ['GET /api/system/status', [full]],
      ['GET /api/system/status', []],
      ['GET /api/nothing', []],
      ['OPTIONS /api/system/status', []],
      ['GET /api/events', [full]],
      ['foo bar', []],
    ] as const) {
      const answer = await server.raw(line, headers);
      assert.equal(answer.headers['x-content-type-options'], 'nosniff', line);
      assert.equal(answer.headers['referrer-policy'], 'no-referrer', line);
      assert.equal(answer.headers['cross-origin-resource-policy'], 'same-origin', line);
      assert.equal(
        answer.headers['content-security-policy'],
        "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; object-src 'none'",
        line,
      );
      assert.match(answer.headers['cache-control'] ?? '', /^no-store/, line);
      assert.equal(answer.headers.server ?? answer.headers['x-powered-by'], undefined, line);
      assert.equal(answer.headers['strict-transport-security'], undefined, `${line}: that is of the TLS edge`);
      assert.equal(answer.headers['set-cookie'], undefined, line);
    }
  });

  it('say what they are in Content-Type, text with its encoding, wherever they have a body', async (t) => {
    const server = await startHttp(t);
    const reads = ROUTES.filter(
      ({ method, path }) => method === 'GET' && path.startsWith('/api/') && path !== '/api/ws',
    );
    for (const route of reads) {
      const path = `${examplePath(route)}${route.path === '/api/chat/messages' ? '?person=a' : ''}`;
      for (const answer of [await server.raw(`GET ${path}`, [full]), await server.raw(`GET ${path}`)]) {
        const type = answer.headers['content-type'] ?? '';
        assert.match(
          type,
          /^application\/(problem\+json|json; charset=utf-8)$|^text\/[\w.; =-]+; charset=utf-8$/,
          `${path}: ${type}`,
        );
      }
    }
  });

  it('let a connection idle for longer than the 60 s of a proxy', async (t) => {
    const server = await startHttp(t);

    const answer = await server.raw('GET /pub/health');

    assert.equal(answer.headers['keep-alive'], 'timeout=65');
  });
});

describe('changes', () => {
  const restart = (key: string, extra: readonly string[] = []) =>
    ['POST /api/system/restart', [full, `Idempotency-Key: ${key}`, ...extra]] as const;

  it('are done once under one Idempotency-Key, with the same answer', async (t) => {
    const server = await startHttp(t);

    const first = await server.raw(...restart('a'));
    const second = await server.raw(...restart('a'));
    const other = await server.raw(...restart('b'));

    assert.deepEqual([first.status, second.status, other.status], [202, 202, 202]);
    assert.equal(second.body, first.body);
    assert.equal(second.headers['idempotency-replayed'], 'true');
    assert.deepEqual(server.host.calls, ['restart', 'restart']);
  });

  it('are answered again under their key, although they have changed the revision that they were meant for', async (t) => {
    const server = await startHttp(t);
    const etag = (await server.fetch('/api/system/ingress')).headers.get('etag') ?? '';
    const put = async () =>
      server.fetch('/api/system/ingress', {
        method: 'PUT',
        headers: { 'If-Match': etag, 'Idempotency-Key': 'p', 'Content-Type': 'application/json' },
        body: '{"state":"paused"}',
      });

    const first = await put();
    const second = await put();

    assert.deepEqual([first.status, second.status], [200, 200]);
    assert.equal(await second.text(), await first.text());
    assert.match(first.headers.get('etag') ?? '', /^"/);
    assert.equal(second.headers.get('etag'), first.headers.get('etag'));
    assert.deepEqual(server.host.calls, ['ingress paused']);
  });

  it('are told when to come back while the first of their key runs', async (t) => {
    const server = await startHttp(t);
    server.host.idempotency.begin = async () => ({ kind: 'running' });

    const answer = await server.raw(...restart('a'));

    assert.deepEqual([answer.status, answer.headers['retry-after']], [409, '1']);
  });

  it('under a key of another request are refused, under a malformed key too', async (t) => {
    const server = await startHttp(t);
    const drop = async (key: string, reason: string): Promise<number> =>
      (
        await server.fetch('/api/inbox/1/drop', {
          method: 'POST',
          headers: { 'Idempotency-Key': key, 'Content-Type': 'application/json' },
          body: JSON.stringify({ reason }),
        })
      ).status;

    assert.deepEqual(
      [await drop('k', 'one'), await drop('k', 'two'), await drop('k'.repeat(256), 'one')],
      [200, 409, 400],
    );
    assert.deepEqual(server.host.calls, ['inbox drop one']);
  });

  it('leave their key free when they failed', async (t) => {
    const server = await startHttp(t);
    const reload = async () => server.raw('POST /api/system/reload', [full, 'Idempotency-Key: r']);
    server.host.failure = new SvcError('reload_refused', 'no');
    const failed = await reload();
    server.host.failure = undefined;
    const again = await reload();

    assert.deepEqual([failed.status, again.status], [409, 200]);
  });

  it('happen only on the revision of If-Match', async (t) => {
    const server = await startHttp(t);
    const put = async (match: string): Promise<number> =>
      (
        await server.fetch('/api/system/ingress', {
          method: 'PUT',
          headers: { 'If-Match': match, 'Content-Type': 'application/json' },
          body: '{"state":"paused","reason":"work","until":"2027-01-01T00:00:00Z"}',
        })
      ).status;
    const etag = (await server.fetch('/api/system/ingress')).headers.get('etag') ?? '';
    const generation = (await server.fetch('/api/system/status')).headers.get('etag') ?? '';

    assert.deepEqual(
      [
        await put('"other"'),
        await put(`W/${etag}`),
        await put('garbage'),
        await put(etag),
        await put(etag),
        await put('*'),
      ],
      [412, 400, 400, 200, 412, 200],
    );
    const reload = async (match: string) =>
      (await server.fetch('/api/system/reload?or-restart', { method: 'POST', headers: { 'If-Match': match } })).status;
    assert.deepEqual([await reload('"x.1"'), await reload(generation)], [412, 200]);
    const enable = async (match: string) =>
      (await server.fetch('/api/endpoints/irc~libera/enable', { method: 'POST', headers: { 'If-Match': match } }))
        .status;
    assert.deepEqual([await enable('"2"'), await enable('"3"')], [412, 200]);
    assert.deepEqual(server.host.calls, ['ingress paused', 'ingress paused', 'reload or restart', 'enable irc~libera']);
  });
});

describe('POST /api/system/reload?or-restart', () => {
  it('is taken where the host restarts instead, and says so', async (t) => {
    const server = await startHttp(t);
    server.host.failure = new SvcError('restart_required', 'a reload cannot take in: package-lock.json');
    const reload = async (query: string) => {
      const answer = await server.fetch(`/api/system/reload${query}`, { method: 'POST' });
      const body = (await answer.json()) as Record<string, unknown>;
      return [answer.status, body['code'] ?? body['accepted']];
    };

    assert.deepEqual(
      [await reload(''), await reload('?or-restart')],
      [
        [409, 'restart_required'],
        [202, true],
      ],
    );
  });
});

describe('routes', () => {
  it('show demo scope neither texts nor names', async (t) => {
    const server = await startHttp(t);
    const paths = [
      '/api/inbox',
      '/api/inbox/1',
      '/api/outbox',
      '/api/outbox/1',
      '/api/endpoints',
      '/api/endpoints/irc~libera',
      '/api/system/status',
      '/api/plugins',
    ];
    for (const path of paths) {
      const body = await (await server.fetch(path, { token: DEMO_TOKEN })).text();
      assert.ok(!body.includes('hello') && !body.includes('nick'), path);
    }
    for (const path of ['/api/inbox', '/api/system/status', '/api/plugins'])
      assert.match(await (await server.fetch(path)).text(), /hello/, path);
  });

  it('find an endpoint by its short name and by its full id, slashes as they are', async (t) => {
    const server = await startHttp(t);

    assert.equal((await server.fetch('/api/endpoints/root/irc:irc~libera')).headers.get('etag'), '"3"');
    assert.equal((await server.fetch('/api/endpoints/irc~libera')).status, 200);
    assert.equal((await server.fetch('/api/endpoints/irc~other')).status, 404);
    assert.equal((await server.fetch('/api/endpoints/root/irc:irc~libera/reconnect', { method: 'POST' })).status, 200);
    assert.deepEqual(server.host.calls, ['reconnect root/irc:irc~libera']);
  });

  it('refuse parameters that they do not know, and values out of range', async (t) => {
    const server = await startHttp(t);
    const status = async (path: string): Promise<number> => (await server.fetch(path)).status;

    assert.deepEqual(
      [
        await status('/api/inbox?limit=0'),
        await status('/api/inbox?limit=201'),
        await status('/api/inbox?limit=1e2'),
        await status('/api/inbox?state=gone'),
        await status('/api/inbox?stat=dead'),
      ],
      [400, 400, 400, 400, 400],
    );
    assert.deepEqual(
      [
        await status('/api/inbox?limit=200&state=dead'),
        await status('/api/logs?lines=5&level=warn'),
        await status('/api/logs?since=1'),
      ],
      [200, 200, 400],
    );
  });

  it('of plugins have their own scope, default full, and no way around the framing', async (t) => {
    const server = await startHttp(t);

    const open = await server.raw('POST /plugins/echo/open', ['Content-Length: 5'], 'hello');
    assert.deepEqual(
      [open.status, open.body, open.headers['content-length'], open.headers['x-plugin']],
      [200, 'hello', '5', 'echo'],
    );
    assert.equal((await server.raw('GET /plugins/echo/closed')).status, 401);
    assert.equal((await server.raw('GET /plugins/echo/closed', [`Authorization: Bearer ${DEMO_TOKEN}`])).status, 403);
    assert.equal((await server.raw('GET /plugins/echo/closed', [full])).status, 200);
    assert.equal((await server.raw('GET /plugins/other/open')).status, 404);
  });

  it('of the chat are there only with a sandbox', async (t) => {
    const server = await startHttp(t);
    const say = async () =>
      (
        await server.fetch('/api/chat/say', {
          method: 'POST',
          headers: { 'Content-Type': 'application/json' },
          body: JSON.stringify({ person: 'ann', text: 'hello', delivery: 'd1' }),
        })
      ).status;
    assert.equal(await say(), 202);
    server.host.chat = undefined;

    assert.equal(await say(), 404);
    assert.deepEqual(server.host.calls, ['say d1']);
  });
});
