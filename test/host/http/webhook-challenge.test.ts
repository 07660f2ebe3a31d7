// Platforms that ask the address of a webhook by GET whether it is theirs (WhatsApp, Facebook, Strava): answered by adapters that say how.
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { Webhooks } from '../../../worker/ingress/webhooks.ts';
import { defineAdapter, t } from '../../../worker/sdk/index.ts';
import { adapterBench } from '../../../worker/testing/index.ts';
import { engineHost } from '../../support/hosts/engine-host.ts';
import { startHttp } from '../../support/http/http-server.ts';

const wire = {
  account: { verifyToken: t.string() },
  can: { text: { limit: 100, unit: 'utf16', render: 'plain' } },
  webhook: { verify: () => ({ kind: 'refused' as const, reason: 'no signature' }), parse: () => [] },
  send: async () => ({ kind: 'sent' as const }),
} as const;
const asking = defineAdapter({
  ...wire,
  name: 'asking',
  webhook: {
    ...wire.webhook,
    challenge: ({ query }, { verifyToken }) =>
      query['hub.verify_token'] === verifyToken
        ? { kind: 'handshake', answer: { text: query['hub.challenge'] ?? '' } }
        : { kind: 'refused', reason: 'another verify token', status: 403 },
  },
});
const quiet = defineAdapter({ ...wire, name: 'quiet' });

async function serving(context: TestContext) {
  const verifyToken = 'told';
  const { core, engine, rows } = await engineHost(context, {
    modules: { asking, quiet },
    config: { plugins: { asking: { verifyToken }, quiet: { verifyToken } } },
  });
  const { endpoints, inbox, gate } = engine;
  const observed: unknown[] = [];
  const webhooks = new Webhooks({
    core,
    endpoints,
    inbox,
    gate,
    generation: () => engine.runtime.current,
    admit: () => {},
    observe: (fact) => observed.push(fact),
    failed: () => {},
  });
  const http = await startHttp(context);
  http.host.deliveries.limit = (path) => webhooks.limit(path);
  http.host.deliveries.challenge = (path) => webhooks.challenge(path);
  http.host.deliveries.deliver = (delivery) => webhooks.deliver(delivery);
  return { http, observed, rows };
}

describe('a platform that asks a webhook by GET', () => {
  it('is answered where the adapter says how, refused without its token, and stores nothing', async (context) => {
    const { http, observed } = await serving(context);
    const ask = (query: string, method = 'GET') => fetch(`${http.url}/webhooks/asking${query}`, { method });

    const good = await ask('?hub.mode=subscribe&hub.verify_token=told&hub.challenge=1158201444');
    const bad = await ask('?hub.mode=subscribe&hub.verify_token=guessed&hub.challenge=1');
    const head = await ask('?hub.verify_token=told&hub.challenge=1', 'HEAD');

    assert.deepEqual([good.status, await good.text()], [200, '1158201444']);
    assert.match(good.headers.get('content-type') ?? '', /^text\/plain/);
    assert.equal(bad.status, 403);
    assert.doesNotMatch(await bad.text(), /guessed|another verify token/);
    assert.deepEqual([head.status, await head.text()], [200, '']);
    assert.deepEqual(observed, [{ endpoint: 'root/asking:asking', kind: 'bad_signature' }]);
  });

  it('changes nothing for deliveries, nor for adapters that say nothing of it', async (context) => {
    const { http } = await serving(context);
    const statusOf = async (path: string, method: string) => {
      const { status, headers } = await fetch(`${http.url}/webhooks/${path}`, { method });
      return [status, headers.get('allow')];
    };

    assert.deepEqual(await statusOf('asking', 'POST'), [401, null]);
    assert.deepEqual(await statusOf('asking', 'PUT'), [405, 'GET, HEAD, OPTIONS, POST']);
    assert.deepEqual(await statusOf('quiet', 'GET'), [405, 'OPTIONS, POST']);
    assert.deepEqual(await statusOf('nothing', 'GET'), [404, null]);
  });

  it('is answered by the bench as by the host', async () => {
    const request = { path: '/webhooks/asking', headers: {}, body: Buffer.alloc(0), receivedAt: 0, method: 'GET' };
    const bench = adapterBench(asking, { verifyToken: 'told' });

    const good = await bench.deliver({ ...request, query: { 'hub.verify_token': 'told', 'hub.challenge': '7' } });
    const bad = await bench.deliver({ ...request, query: {} });
    const none = await adapterBench(quiet, { verifyToken: 'told' }).deliver({ ...request, query: {} });

    assert.deepEqual([good.text, bad.status, none.status], ['7', 403, 405]);
  });
});
