// Changes under an Idempotency-Key whose worker is killed between what they change and their answer: the same request, once the host is
// back, gets the answer of the first one, and nothing is done again.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import { FaultyHost } from '../../support/hosts/faulty-host.ts';
import { until } from '../../support/until.ts';

const DIES = `import { definePlugin, giveUp } from 'svc';
export default definePlugin({ name: 'dies', setup(p) { p.on('message', {}, (_ctx, { text }) => { if (text.startsWith('die')) throw giveUp('no'); }); } });
`;

/** `npm run crash` makes all of the changes that have one way in common, `npm test` every other one. */
// biome-ignore lint/style/noProcessEnv: a switch of the test run
const IS_LONG = Number(process.env['SVC_CRASH_KILLS'] ?? 0) >= 30;

/** An owner that starts a worker again which ends by itself: here the test does. */
const PM2 = { pm_id: '0', PM2_HOME: '/nonexistent' };

interface Change {
  readonly method: 'POST' | 'PUT';
  readonly path: string;
  readonly body: object;
  readonly key: string;
}
type Shown = Readonly<Record<string, unknown>>;

/** Takes every delivery and refuses it for good. */
async function refusing(t: TestContext): Promise<string> {
  const server = createServer(
    (request, response) => void request.resume().on('end', () => response.writeHead(400).end()),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

async function hostWithDead(t: TestContext): Promise<FaultyHost> {
  const host = await FaultyHost.start(t, {
    sources: { 'dies.js': DIES },
    plugins: {
      dies: { use: './plugins/dies.js' },
      sandbox: {},
      // biome-ignore lint/suspicious/noTemplateCurlyInString: a reference of the configuration
      gone: { use: 'webhook', endpoints: [{ id: 'gone', url: await refusing(t), secrets: ['${HOOK_SECRET}'] }] },
    },
  });
  for (const text of ['die 1', 'die 2']) await host.deliver(text);
  for (const id of ['e1', 'e2']) {
    const payload = { conversation: { id }, user: { id: 'ann' }, text: '/echo hello' };
    const { body, headers } = host.platform.sign(id, payload);
    const sent = await fetch(`${host.url}/webhooks/gone/gone`, { method: 'POST', headers, body });
    assert.equal(sent.status, 200, await sent.text());
  }
  for (const store of ['inbox', 'outbox'] as const)
    await until(async () => (await host.api.count(store, 'dead')) === 2, { what: `two dead in the ${store}` });
  return host;
}

const ask = (host: FaultyHost, { method, path, body, key }: Change): Promise<Response> =>
  fetch(`${host.url}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${host.project.token}`,
      'content-type': 'application/json',
      'idempotency-key': key,
      connection: 'close',
    },
    body: JSON.stringify(body),
  });

/** How often the history tells of a change. */
async function told({ api }: FaultyHost, type: string): Promise<number> {
  let times = 0;
  for await (const event of api.events()) if (event['type'] === type) times += 1;
  return times;
}

async function deadIds({ api }: FaultyHost, store: 'inbox' | 'outbox'): Promise<readonly string[]> {
  const page = (await api.get(`/api/${store}?state=dead`)) as { readonly items: readonly { readonly id: string }[] };
  return page.items.map(({ id }) => id);
}

const DIES_OF_A_CHANGE = 'changed=kill';
async function restart(host: FaultyHost, failpoints?: string): Promise<void> {
  host.restart(failpoints);
  await host.isReady(true);
}

/** Asks, is killed when the change is made and nobody has an answer, and asks the next worker again. */
async function askOverKill(host: FaultyHost, change: Change, failpoints?: string): Promise<Response> {
  await assert.rejects(ask(host, change), `${change.path}: the worker died under it`);
  await host.life.ended;
  await restart(host, failpoints);
  return ask(host, change);
}

describe('a change whose worker is killed between its effect and its answer', { timeout: 900_000 }, () => {
  it('has its answer in the unit of its effect: the same request gets it, and nothing is done twice', async (t) => {
    const host = await hostWithDead(t);
    const [inbox, outbox] = [await deadIds(host, 'inbox'), await deadIds(host, 'outbox')];
    const account = '/api/endpoints/root/gone:gone~gone';
    const said = { person: 'ann', text: 'hi', delivery: 'd1' };
    const cases: readonly (readonly [string, string, object, Shown])[] = [
      [`/api/inbox/${inbox[0]}/replay`, 'inbox.replayed', {}, { id: inbox[0], state: 'received', attempts: 0 }],
      [`/api/inbox/${inbox[1]}/drop`, 'inbox.dropped', { reason: 'x' }, { state: 'done', lastError: 'dropped: x' }],
      [`/api/outbox/${outbox[0]}/replay`, 'outbox.replayed', {}, { id: outbox[0], state: 'pending', attempts: 0 }],
      [`/api/outbox/${outbox[1]}/drop`, 'outbox.dropped', { reason: 'x' }, { state: 'dead', lastError: 'dropped: x' }],
      [`${account}/disable`, 'endpoint.disabled', {}, { state: 'disabled', enabled: false }],
      [`${account}/enable`, 'endpoint.enabled', {}, { state: 'connecting', enabled: true }],
      [
        '/api/system/ingress',
        'ingress.paused',
        { state: 'paused', reason: 'work' },
        { state: 'paused', by: 'token:full' },
      ],
      ['/api/system/ingress', 'ingress.resumed', { state: 'open' }, { state: 'open', by: 'token:full' }],
      ['/api/chat/say', 'inbox.received', said, { duplicate: false }],
    ];

    await host.life.kill();
    await restart(host, DIES_OF_A_CHANGE);
    for (const [index, [path, type, body, expected]] of cases.filter((_, at) => IS_LONG || at % 2 === 0).entries()) {
      const before = await told(host, type);
      const method = path === '/api/system/ingress' ? 'PUT' : 'POST';
      const change: Change = { method, path, body, key: `k${index}` };
      // The next worker would die of the next change: also of this one, made again.
      const [again, once] = [await askOverKill(host, change, DIES_OF_A_CHANGE), await ask(host, change)];
      const answer = (await again.json()) as Shown;

      assert.equal(again.status, path === '/api/chat/say' ? 202 : 200, `${path}: ${JSON.stringify(answer)}`);
      assert.equal(again.headers.get('idempotency-replayed'), 'true', path);
      assert.equal(again.headers.get('etag') !== null, method === 'PUT', path);
      assert.deepEqual({ ...answer, ...expected }, answer, path);
      assert.deepEqual(await once.json(), answer, path);
      assert.equal((await told(host, type)) - before, 1, `${type} once`);
    }
  });

  it('has it there before a process or a connection ends, too: reload, restart, reconnect', async (t) => {
    const host = await FaultyHost.start(t, { environment: PM2, failpoints: DIES_OF_A_CHANGE });
    const status = async (): Promise<Shown> => (await host.api.get('/api/system/status')) as Shown;
    const { runtimeId } = await status();
    const cases: readonly (readonly [string, number, string | undefined])[] = [
      ['/api/system/reload', 200, undefined],
      ['/api/system/restart', 202, 'runtime.restart_requested'],
      ['/api/endpoints/root/webhook:webhook~shop/reconnect', 200, undefined],
    ];

    for (const [index, [path, code, type]] of cases.entries()) {
      const change: Change = { method: 'POST', path, body: {}, key: `k${index}` };
      const again = await askOverKill(host, change, DIES_OF_A_CHANGE);
      const answer = (await again.json()) as Shown;
      const running = await status();

      assert.equal(again.status, code, `${path}: ${JSON.stringify(answer)}`);
      assert.equal(again.headers.get('idempotency-replayed'), 'true', path);
      if (path.endsWith('reload'))
        assert.equal(answer['generation'], Number(running['generation']) - 1, 'of the commit');
      if (path.endsWith('restart'))
        assert.ok(![runtimeId, running['runtimeId']].includes(answer['runtimeId']), 'it ended');
      if (type !== undefined) assert.equal(await told(host, type), 1, `${type} once`);
      assert.equal(host.life.end, undefined);
    }
  });

  it('has it there before the restart that a reload comes to', async (t) => {
    const host = await FaultyHost.start(t, { environment: PM2, failpoints: DIES_OF_A_CHANGE });
    const change: Change = { method: 'POST', path: '/api/system/reload?or-restart=1', body: {}, key: 'r' };
    host.project.write('package-lock.json', '{"other":true}');

    const again = await askOverKill(host, change);

    assert.equal(again.status, 202, await again.clone().text());
    assert.equal(again.headers.get('idempotency-replayed'), 'true');
  });

  it('is not done once more when it is asked for again after the restart that it was', async (t) => {
    const host = await FaultyHost.start(t, { environment: PM2 });
    const change: Change = { method: 'POST', path: '/api/system/restart', body: {}, key: 'r' };
    const first = (await (await ask(host, change)).json()) as Shown;
    const end = await host.life.ended;
    await restart(host);

    const again = await ask(host, change);

    assert.deepEqual([end.code, again.status, await again.json()], [51, 202, first]);
    assert.equal(await told(host, 'runtime.restart_requested'), 1);
    assert.equal(host.life.end, undefined);
  });

  it('is free to be asked again where it was killed before anything was done', async (t) => {
    const host = await FaultyHost.start(t, { failpoints: 'begun=kill' });
    const change: Change = { method: 'POST', path: '/api/system/reload', body: {}, key: 'r' };
    await assert.rejects(ask(host, change), 'the worker died under it');
    await host.life.ended;
    await restart(host);

    const again = await ask(host, change);

    assert.equal(again.status, 200);
    assert.equal(again.headers.get('idempotency-replayed'), null);
  });
});
