// Hostile inputs 1 to 11 and 18: who may ask for what. Each case is one status over a raw socket, then a good request.
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { ROUTES } from '../../../worker/http/routes/route-table.ts';
import { DEMO_TOKEN, FULL_TOKEN, WEBHOOK_SECRET } from '../../support/hosts/fake-host-port.ts';
import { type ServerUnderTest, startHttp } from '../../support/http/http-server.ts';
import { examplePath } from '../../support/http/route-examples.ts';
import { until } from '../../support/until.ts';

const READINESS = 'GET /api/system/readiness';
const full = `Authorization: Bearer ${FULL_TOKEN}`;
const demo = `Authorization: Bearer ${DEMO_TOKEN}`;

const codeOf = ({ body }: { readonly body: string }): unknown => (JSON.parse(body) as { readonly code: unknown }).code;

async function stillServes(server: ServerUnderTest): Promise<void> {
  assert.equal((await server.raw('GET /pub/health')).status, 200);
  assert.equal((await server.raw(READINESS, [full])).status, 200);
}

describe('authentication over HTTP', () => {
  const start = (t: TestContext, limit = 1_000): Promise<ServerUnderTest> => startHttp(t, { failures: { limit } });

  it('asks for a token with a bare challenge', async (t) => {
    const server = await start(t);

    const answer = await server.raw(READINESS);

    assert.equal(answer.status, 401);
    assert.equal(answer.headers['www-authenticate'], 'Bearer realm="svc"');
    assert.equal(answer.headers['content-type'], 'application/problem+json');
    await stillServes(server);
  });

  it('takes the scheme in any case', async (t) => {
    const server = await start(t);

    assert.equal((await server.raw(READINESS, [`Authorization: bearer ${FULL_TOKEN}`])).status, 200);
    assert.equal((await server.raw(READINESS, [`authorization: BEARER ${FULL_TOKEN}`])).status, 200);
  });

  const schemes: readonly (readonly [string, number])[] = [
    ['Basic dXNlcjpwYXNz', 401],
    [`Token ${FULL_TOKEN}`, 401],
    [`Bearers ${FULL_TOKEN}`, 401],
    ['Bearer', 400],
    ['Bearer ', 400],
    [`Bearer\t${FULL_TOKEN}`, 400],
    [`Bearer  ${FULL_TOKEN}`, 400],
    [`Bearer ${FULL_TOKEN}, Bearer ${FULL_TOKEN}`, 400],
    [`Bearer ${FULL_TOKEN} x`, 400],
    [`Bearer "${FULL_TOKEN}"`, 400],
    [`Bearer ${'a'.repeat(513)}`, 400],
  ];
  it('tells another scheme from malformed credentials', async (t) => {
    const server = await start(t);
    for (const [value, status] of schemes) {
      assert.equal(
        (await server.raw(READINESS, [`Authorization: ${value}`])).status,
        status,
        JSON.stringify(value.slice(0, 40)),
      );
    }
    await stillServes(server);
  });

  it('refuses two Authorization headers in both orders', async (t) => {
    const server = await start(t);
    for (const pair of [
      [full, full],
      [full, demo],
      [demo, full],
      [full, 'Authorization: Basic x'],
      ['AUTHORIZATION: Basic x', full],
    ]) {
      assert.equal((await server.raw(READINESS, pair)).status, 400, pair.join(' '));
    }
    await stillServes(server);
  });

  it('refuses a token in a query or a form, and logs neither', async (t) => {
    const server = await start(t);
    const form = ['Content-Type: application/x-www-form-urlencoded', `Content-Length: ${13 + FULL_TOKEN.length}`];
    const body = `access_token=${FULL_TOKEN}`;

    const statuses = [
      (await server.raw(`GET /api/system/readiness?token=${FULL_TOKEN}`)).status,
      (await server.raw(`GET /api/system/readiness?access_token=${FULL_TOKEN}`, [full])).status,
      (await server.raw('POST /api/system/restart', form, body)).status,
      (await server.raw('POST /api/system/restart', [full, ...form], body)).status,
    ];

    assert.deepEqual(statuses, [400, 400, 400, 400]);
    assert.ok(!server.logged.join('\n').includes(FULL_TOKEN));
    assert.ok(!JSON.stringify(server.host.observed).includes(FULL_TOKEN));
    assert.deepEqual(server.host.calls, []);
    await stillServes(server);
  });

  it('refuses a body with a field for a token below /api, in each form, whoever sends it', async (t) => {
    const server = await start(t);
    const bodies: readonly (readonly [string, string])[] = [
      ['application/x-www-form-urlencoded', `a=b&access_token=${FULL_TOKEN}`],
      ['application/x-www-form-urlencoded; charset=utf-8', `token=${FULL_TOKEN}`],
      ['application/json', JSON.stringify({ access_token: FULL_TOKEN })],
      ['application/json', JSON.stringify({ a: [{ Token: 'another' }] })],
    ];
    const callers = [[full], [demo], ['Authorization: Bearer wrong'], ['Authorization: Basic dXNlcjpwYXNz'], []];
    for (const path of ['/api/system/echo', '/api/system/ingress', '/api/inbox/1/drop'])
      for (const [type, body] of bodies)
        for (const caller of callers) {
          const line = `${path.endsWith('ingress') ? 'PUT' : 'POST'} ${path}`;
          const answer = await server.raw(
            line,
            [...caller, `Content-Type: ${type}`, `Content-Length: ${body.length}`],
            body,
          );
          assert.equal(answer.status, 400, `${line} ${type} ${caller.join()}`);
        }

    assert.deepEqual(server.host.calls, []);
    assert.ok(!server.logged.join('\n').includes(FULL_TOKEN));
    await stillServes(server);
  });

  it('refuses a token of the host in a body below /api, whatever its field, and keeps nothing of it', async (t) => {
    const server = await start(t);
    // As it is, and with a letter escaped.
    for (const [line, body] of [
      ['PUT /api/system/ingress', { state: 'paused', reason: `for ${DEMO_TOKEN}` }],
      ['POST /api/outbox/1/drop', { reason: FULL_TOKEN }],
      ['POST /api/chat/say', { person: 'ann', text: FULL_TOKEN, delivery: '1' }],
      ['POST /api/system/echo', { any: FULL_TOKEN }],
    ] as const)
      for (const token of [FULL_TOKEN, `\\u0066${FULL_TOKEN.slice(1)}`]) {
        const text = JSON.stringify(body).replace(FULL_TOKEN, token);
        const headers = [full, 'Content-Type: application/json', `Content-Length: ${text.length}`];
        const answer = await server.raw(line, headers, text);
        assert.deepEqual([answer.status, codeOf(answer)], [400, 'invalid_request'], `${line} ${text}`);
      }

    assert.deepEqual(server.host.calls, []);
    await stillServes(server);
  });

  it('does not tell a stranger by a body whether a guess is a token', async (t) => {
    const server = await start(t);
    const guess = async (text: string): Promise<string> => {
      const body = JSON.stringify({ reason: text });
      const headers = ['Content-Type: application/json', `Content-Length: ${body.length}`];
      const answers = [await server.raw('POST /api/inbox/1/drop', headers, body)];
      answers.push(await server.raw('POST /api/inbox/1/drop', [demo, ...headers], body));
      return answers.map(({ status }) => status).join();
    };

    assert.deepEqual([await guess(FULL_TOKEN), await guess('no token')], ['401,403', '401,403']);
  });

  it('does not wait for the body of a stranger who does not send it, nor read one that is large', async (t) => {
    const server = await start(t);
    const json = 'Content-Type: application/json';
    const large = JSON.stringify({ access_token: 'a'.repeat(20_000) });

    const answers = [
      await server.raw('POST /api/system/restart', [json, 'Content-Length: 100']),
      await server.raw('POST /api/system/restart', [json, 'Content-Length: 100'], '{"access_token":'),
      await server.raw('POST /api/system/restart', [json, `Content-Length: ${large.length}`], large),
    ];

    assert.deepEqual(
      answers.map(({ status }) => status),
      [401, 401, 401],
    );
    await stillServes(server);
  });

  it('takes the field of a body that is named like a token and is none: that of a button', async (t) => {
    const server = await start(t);
    const body = JSON.stringify({ person: 'ann', message: 'm', token: 'yes', delivery: 'd' });
    const headers = ['Content-Type: application/json', `Content-Length: ${body.length}`];

    const answers = [
      await server.raw('POST /api/chat/press', [full, ...headers], body),
      await server.raw('POST /api/chat/press', headers, body),
    ];

    assert.deepEqual(
      answers.map(({ status }) => status),
      [202, 401],
    );
  });

  it('refuses a part of a token, more than a token, and a huge one', async (t) => {
    const server = await start(t);
    const of = async (token: string): Promise<number> =>
      (await server.raw(READINESS, [`Authorization: Bearer ${token}`])).status;

    assert.deepEqual(
      [await of(FULL_TOKEN.slice(0, -1)), await of(`${FULL_TOKEN}x`), await of('a'.repeat(1024 * 1024))],
      [401, 401, 431],
    );
    await stillServes(server);
  });

  it('refuses the demo token on every route that changes something, and changes nothing', async (t) => {
    const server = await start(t);
    const writing = ROUTES.filter(({ method, scope }) => method !== 'GET' && scope !== 'none');
    assert.ok(writing.length >= 12);
    for (const route of writing) {
      const answer = await server.raw(
        `${route.method} ${examplePath(route)}`,
        [demo, 'Content-Type: application/json', 'Content-Length: 2'],
        '{}',
      );
      const allowed =
        route.path.startsWith('/plugins') && (route.method === 'PUT' || route.method === 'DELETE') ? 405 : 403;
      assert.equal(answer.status, allowed, `${route.method} ${route.path}`);
    }
    assert.deepEqual(server.host.calls, []);
    await stillServes(server);
  });

  it('keeps every route that needs a token closed to none, wrong and demo tokens as its scope says', async (t) => {
    const server = await start(t);
    for (const route of ROUTES.filter(({ scope, path }) => scope !== 'none' && path !== '/api/ws')) {
      const line = `${route.method} ${examplePath(route)}`;
      if (route.path.startsWith('/plugins') && (route.method === 'PUT' || route.method === 'DELETE')) continue;
      assert.equal((await server.raw(line)).status, 401, line);
      assert.equal((await server.raw(line, ['Authorization: Bearer wrong'])).status, 401, line);
      const withDemo = (await server.raw(`${line}${route.path === '/api/chat/messages' ? '?person=a' : ''}`, [demo]))
        .status;
      assert.equal(withDemo, route.scope === 'full' ? 403 : 200, line);
    }
    assert.deepEqual(server.host.calls, []);
  });

  it('refuses the demo token on the readiness report', async (t) => {
    const server = await start(t);

    const answer = await server.raw(READINESS, [demo]);

    assert.equal(answer.status, 403);
    assert.match(answer.headers['www-authenticate'] ?? '', /error="insufficient_scope"/);
    assert.equal((JSON.parse(answer.body) as { code: string }).code, 'insufficient_scope');
  });

  it('gives a full token no way into a webhook, and a webhook secret none into the API', async (t) => {
    const server = await start(t);

    const webhook = await server.raw('POST /webhooks/hook/main', [full, 'Content-Length: 2'], '{}');
    const api = await server.raw(READINESS, [`Authorization: Bearer ${WEBHOOK_SECRET}`]);

    assert.deepEqual([webhook.status, api.status], [401, 401]);
    assert.ok(!webhook.body.includes('platform'), 'no detail for a stranger');
    assert.deepEqual(server.host.calls, []);
    await stillServes(server);
  });

  it('slows down a source of wrong tokens and never a valid one', async (t) => {
    const server = await start(t, 10);
    const statuses: number[] = [];
    let waitSeconds = '';
    for (let n = 0; n < 50; n += 1) {
      const answer = await server.raw(READINESS, [`Authorization: Bearer wrong-${n}`]);
      statuses.push(answer.status);
      waitSeconds = answer.headers['retry-after'] ?? '';
    }

    assert.deepEqual(statuses.slice(0, 10), Array(10).fill(401));
    assert.deepEqual(statuses.slice(10), Array(40).fill(429));
    assert.ok(Number(waitSeconds) >= 1 && Number(waitSeconds) <= 60);
    await stillServes(server);
  });

  it('counts wrong tokens alone as failed: those that are slowed down too, no missing one and no weak one', async (t) => {
    const server = await start(t, 1);
    const kindOf = async (line: string, headers: readonly string[]): Promise<string> => {
      const before = server.host.observed.length;
      const { status } = await server.raw(line, headers);
      await until(() => server.host.observed.length > before, { what: 'the request to be counted' });
      return `${status} ${server.host.observed.at(-1)?.kind}`;
    };
    const wrong = 'Authorization: Bearer wrong';
    const upgrade = [
      'Connection: Upgrade',
      'Upgrade: websocket',
      'Sec-WebSocket-Version: 13',
      `Sec-WebSocket-Key: ${'a'.repeat(22)}==`,
    ];

    const kinds = [
      await kindOf(READINESS, []),
      await kindOf(READINESS, ['Authorization: Basic dXNlcjpwYXNz']),
      await kindOf(READINESS, ['Authorization: Bearer']),
      await kindOf(READINESS, [demo]),
      await kindOf('GET /api/ws', upgrade),
      await kindOf(READINESS, [wrong]),
      await kindOf(READINESS, [wrong]),
      await kindOf('GET /api/ws', [wrong, ...upgrade]),
    ];

    const refused = ['401 refused', '401 refused', '400 refused', '403 refused', '401 refused'];
    assert.deepEqual(kinds, [...refused, '401 auth_failed', '429 auth_failed', '429 auth_failed']);
  });

  it('takes in new tokens with the settings, and tells which streams are to end', async (t) => {
    const server = await start(t);
    const { Secret } = await import('../../../shared/secret.ts');
    let valid: ReadonlySet<string> = new Set();
    server.host.events.closeRevoked = (actors) => void (valid = actors);
    server.host.current = {
      ...server.host.current,
      tokens: [
        { name: 'main', scope: 'full', token: new Secret('another-token-0123456789') },
        ...server.host.current.tokens.slice(1),
        { name: 'new', scope: 'full', token: new Secret('newest-token-0123456789') },
      ],
    };

    server.http.tokensChanged();

    assert.equal((await server.raw(READINESS, [full])).status, 401);
    assert.equal((await server.raw(READINESS, ['Authorization: Bearer newest-token-0123456789'])).status, 200);
    assert.deepEqual([...valid].toSorted(), ['token:demo', 'token:new']);
  });

  it('tells to end the streams of a token that reaches less far, or farther, than when they began', async (t) => {
    const server = await start(t);
    let valid: ReadonlySet<string> = new Set();
    server.host.events.closeRevoked = (actors) => void (valid = actors);
    const [main, ...others] = server.host.current.tokens;
    assert.ok(main);

    for (const scope of ['demo', 'full'] as const) {
      server.host.current = { ...server.host.current, tokens: [{ ...main, scope }, ...others] };
      server.http.tokensChanged();
      assert.deepEqual([...valid], ['token:demo'], scope);
      server.http.tokensChanged();
      assert.deepEqual([...valid].toSorted(), ['token:demo', 'token:main'], `${scope}, as before`);
    }
  });

  it('refuses a cross-site post of plain text to a route that changes something', async (t) => {
    const server = await start(t);
    const headers = [full, 'Origin: http://evil.example', 'Content-Type: text/plain', 'Content-Length: 2'];

    const answers = [
      await server.raw('POST /api/system/restart', headers, '{}'),
      await server.raw('POST /api/system/restart', headers.slice(1), '{}'),
    ];

    assert.deepEqual(
      answers.map(({ status }) => status),
      [415, 401],
    );
    assert.deepEqual(server.host.calls, []);
    await stillServes(server);
  });

  it('keeps a token of the host from those who take deliveries, and no other credentials', async (t) => {
    const server = await startHttp(t);
    server.host.deliveries.limit = () => 1_000;
    server.host.deliveries.deliver = async ({ headers }) => ({
      status: 200,
      json: { seen: headers['authorization'] ?? null },
    });
    const seen = async (token: string): Promise<unknown> =>
      ((await (await server.fetch('/webhooks/a', { method: 'POST', body: '{}', token })).json()) as { seen: unknown })
        .seen;

    assert.deepEqual(
      [await seen(FULL_TOKEN), await seen(DEMO_TOKEN), await seen('of-the-platform')],
      [null, null, 'Bearer of-the-platform'],
    );
  });
});
