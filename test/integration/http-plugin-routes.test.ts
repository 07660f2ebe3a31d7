// Routes of a plugin over HTTP: who may ask, and what they read when it did not work.
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { createPluginRoutes } from '../../worker/runtime/plugin-routes.ts';
import { definePlugin, md, userError } from '../../worker/sdk/index.ts';
import { engineHost } from '../support/engine-host.ts';
import { DEMO_TOKEN, FULL_TOKEN } from '../support/fake-host-port.ts';
import { startHttp } from '../support/http-server.ts';

const SCOPES = ['none', 'demo', 'full'] as const;

const shop = definePlugin({
  name: 'shop',
  setup(p) {
    p.route('GET /default', {}, () => ({ json: 'in' }));
    for (const scope of SCOPES) {
      p.route(`GET /sold-out-${scope}`, { scope }, () => {
        throw userError(md`**Sold out**: ${scope}`);
      });
      p.route(`GET /broken-${scope}`, { scope }, () => {
        throw new Error('a detail that nobody may see');
      });
    }
  },
});

async function serving(t: TestContext) {
  const { engine } = await engineHost(t, { modules: { shop } });
  const http = await startHttp(t);
  http.host.pluginRoute = createPluginRoutes({
    context: engine.context,
    generation: () => engine.runtime.current,
    decided: engine.decided,
    failed: () => {},
  });
  return async (path: string, token?: string) => {
    const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const response = await fetch(`${http.url}/plugins/shop/${path}`, { headers });
    return { status: response.status, text: await response.text() };
  };
}

describe('a route of a plugin', () => {
  it('tells everybody who may ask what its userError says, and nobody what else it throws', async (t) => {
    const ask = await serving(t);
    for (const [scope, token] of [
      ['none', undefined],
      ['demo', DEMO_TOKEN],
      ['full', FULL_TOKEN],
    ] as const) {
      const told = await ask(`sold-out-${scope}`, token);
      assert.deepEqual([told.status, JSON.parse(told.text).detail], [400, `Sold out: ${scope}`]);
      const broken = await ask(`broken-${scope}`, token);
      assert.equal(broken.status, 500);
      assert.doesNotMatch(broken.text, /a detail/);
    }
  });

  it('takes the full token alone where it names no scope', async (t) => {
    const ask = await serving(t);

    const answers = [await ask('default'), await ask('default', DEMO_TOKEN), await ask('default', FULL_TOKEN)];

    assert.deepEqual(
      answers.map(({ status }) => status),
      [401, 403, 200],
    );
  });
});
