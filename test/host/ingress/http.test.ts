// Ingress over HTTP while it is paused: routes of plugins, what still runs, and what the end of the pause would begin.
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { running } from '../../support/hosts/app-host.ts';
import { temporaryProject } from '../../support/temporary-project.ts';
import { until } from '../../support/until.ts';

const SHOP = `import { definePlugin } from 'svc';
export default definePlugin({ name: 'shop', setup(p) {
  for (const method of ['GET', 'POST', 'PUT', 'DELETE']) p.route(method + ' /order', {}, () => ({ json: method }));
  p.route('POST /slow', {}, async (ctx) => { await new Promise((resolve) => ctx.signal.addEventListener('abort', resolve)); return {}; });
} });`;

async function shopHost(t: TestContext) {
  const plugins = { sandbox: {}, ping: {}, shop: { use: './plugins/shop.mjs' } };
  const project = temporaryProject(t, { config: { plugins }, plugins: { 'shop.mjs': SHOP } });
  const host = await running(t, { project });
  const url = `http://127.0.0.1:${host.app.address()?.port}`;
  const headers = { authorization: `Bearer ${project.token}` };
  return {
    host,
    ask: (method: string, path: string) => fetch(`${url}/plugins/shop/${path}`, { method, headers }),
    get: async (path: string) => (await host.call('GET', path)).json as Readonly<Record<string, unknown>>,
    set: (change: object) => host.call('PUT', '/api/system/ingress', change),
  };
}

describe('a paused ingress', () => {
  for (const mode of ['park', 'reject'] as const)
    it(`refuses routes of plugins other than GET and HEAD in mode ${mode}, with a time to come back`, async (t) => {
      const { ask, set } = await shopHost(t);
      await set({ state: 'paused', mode });
      const answers = [];
      for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'DELETE']) answers.push(await ask(method, 'order'));
      await set({ state: 'open' });
      const after = await ask('POST', 'order');

      assert.deepEqual(
        answers.map(({ status }) => status),
        [200, 200, 503, 503, 503],
      );
      assert.equal(answers[2]?.headers.get('retry-after'), '60');
      assert.match((await answers[2]?.text()) ?? '', /"code":"ingress_paused"/);
      assert.equal(after.status, 200);
    });

  it('is quiet once nothing runs, and says what runs until then', async (t) => {
    const { host, ask, get, set } = await shopHost(t);
    const slow = ask('POST', 'slow').catch(() => {});
    const path = '/api/system/ingress';
    await until(async () => ((await get(path))['handlers'] as unknown[]).length > 0, { what: 'the handler' });
    await set({ state: 'paused' });
    const busy = await get(path);
    await host.call('POST', '/api/chat/say', { person: 'ann', text: '/ping', delivery: 'd1' });
    await host.call('POST', '/api/system/reload', {}); // the generation before drains with its request
    const draining = await get(path);

    assert.deepEqual(
      [busy['quiet'], (busy['handlers'] as { handler: string }[]).map(({ handler }) => handler)],
      [false, ['root/shop#route/POST /slow']],
    );
    assert.deepEqual([draining['quiet'], draining['parked'], draining['waitingSends']], [false, 1, 0]);
    await host.app.stop(1_000);
    await slow;
  });

  it('says what its end would begin', async (t) => {
    const { host, get, set } = await shopHost(t);
    await set({ state: 'paused' });
    await host.call('POST', '/api/chat/say', { person: 'ann', text: '/ping', delivery: 'd1' });
    const path = '/api/system/ingress/preview';
    const { items } = await get(path);
    const after = await get('/api/system/ingress');

    assert.deepEqual(
      (items as Record<string, unknown>[]).map(({ endpoint, kind, count }) => [endpoint, kind, count]),
      [['root/sandbox:sandbox', 'arrival', 1]],
    );
    assert.deepEqual([after['state'], after['quiet'], after['parked']], ['paused', true, 1]);
  });
});
