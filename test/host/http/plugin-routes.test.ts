// Routes of a plugin over HTTP: who may ask, and what they read when it did not work.
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { SvcError } from '../../../shared/svc-error.ts';
import { createPluginRoutes } from '../../../worker/runtime/generations/plugin-routes.ts';
import { defineAdapter, definePlugin, md, userError } from '../../../worker/sdk/index.ts';
import { engineHost } from '../../support/hosts/engine-host.ts';
import { DEMO_TOKEN, FULL_TOKEN } from '../../support/hosts/fake-host-port.ts';
import { startHttp } from '../../support/http/http-server.ts';

const SCOPES = ['none', 'demo', 'full'] as const;

/** Answers of another form, with what is said of each. */
const WRONG: Readonly<Record<string, unknown>> = {
  'text-number': { text: 5 },
  'text-object': { text: { a: 1 } },
  'status-text': { status: '200' },
  'status-low': { status: 101 },
  'headers-list': { headers: ['a'] },
  'headers-class': { headers: new Headers({ a: 'b' }) },
  'header-object': { headers: { 'x-a': { b: 1 } } },
  'header-split': { headers: { 'x-a': 'a\r\nb' } },
  'json-function': { json: () => 1 },
  'json-big': { json: 1n },
  'answer-text': 'hello',
  'answer-body': { body: 'hello' },
};

const shop = definePlugin({
  name: 'shop',
  setup(p) {
    p.route('GET /default', {}, () => ({ json: 'in' }));
    for (const [name, answer] of Object.entries(WRONG)) p.route(`GET /${name}`, {}, () => answer as object);
    p.route('GET /said', {}, (ctx) => ctx.send({ endpoint: 'root/shop:shop', id: 'c' }, 'hello') as object);
    p.route('POST /unwritable', {}, (ctx) => {
      ctx.send({ endpoint: 'mute', id: 'c' }, 'hello');
      return {};
    });
    p.route('GET /trap', {}, () => ({
      get text(): string {
        throw new Error('a trap');
      },
    }));
    p.route('GET /dressed', {}, () => ({
      text: '<p>',
      headers: {
        'content-type': 'text/html',
        'x-content-type-options': 'none',
        'Content-Security-Policy': "script-src 'unsafe-inline'",
        'X-Own': 'kept',
        'Set-Cookie': 'own=1',
      },
    }));
    p.route('GET /half', {}, () => ({ json: { text: 'a\ud83d b', path: 'C:\\ud83d', emoji: '👍' } }));
    p.route('POST /order', {}, () => ({ json: 'ordered' }));
    for (const scope of SCOPES) {
      p.route(`GET /seen-${scope}`, { scope }, (_ctx, { headers }) => ({
        json: { authorization: headers.authorization, cookie: headers.cookie },
      }));
      p.route(`GET /sold-out-${scope}`, { scope }, () => {
        throw userError(md`**Sold out**: ${scope}`);
      });
      p.route(`GET /broken-${scope}`, { scope }, () => {
        throw new Error('a detail that nobody may see');
      });
    }
  },
});

/** An adapter that can write nothing. */
const mute = defineAdapter({
  name: 'mute',
  account: {},
  can: {
    text: {
      limit: 10,
      unit: 'utf16',
      render() {
        throw new Error('no such mark');
      },
    },
  },
  send: async () => ({ kind: 'sent' }),
});

async function serving(t: TestContext, admit: () => void = () => {}) {
  const failures: string[] = [];
  const { engine } = await engineHost(t, { modules: { shop, mute } });
  const http = await startHttp(t);
  http.host.deliveries.pluginRoute = createPluginRoutes({
    context: engine.context,
    generation: () => engine.runtime.current,
    admit,
    decide: engine.decide,
    failed: ({ error }) => void failures.push(String(error)),
  });
  const ask = async (path: string, token?: string, { method = 'GET', ...more }: Record<string, string> = {}) => {
    const headers: Record<string, string> = token === undefined ? more : { authorization: `Bearer ${token}`, ...more };
    const response = await fetch(`${http.url}/plugins/shop/${path}`, { method, headers });
    return { status: response.status, text: await response.text(), headers: response.headers };
  };
  return Object.assign(ask, { failures, logged: http.logged });
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

  it('answers with U+FFFD for half a character', async (t) => {
    const ask = await serving(t);
    const { text } = await ask('half', FULL_TOKEN);
    assert.deepEqual(JSON.parse(text), { text: 'a\ufffd b', path: 'C:\\ud83d', emoji: '👍' });
  });

  it('takes the full token alone where it names no scope', async (t) => {
    const ask = await serving(t);

    const answers = [await ask('default'), await ask('default', DEMO_TOKEN), await ask('default', FULL_TOKEN)];

    assert.deepEqual(
      answers.map(({ status }) => status),
      [401, 403, 200],
    );
  });

  it('does not see the token of the host, and sees what else it is sent', async (t) => {
    const ask = await serving(t);
    const seen = async (path: string, token?: string, more?: Record<string, string>): Promise<unknown> =>
      JSON.parse((await ask(path, token, more)).text);

    assert.deepEqual(await seen('seen-full', FULL_TOKEN, { cookie: 'own=1' }), { cookie: 'own=1' });
    assert.deepEqual(await seen('seen-demo', DEMO_TOKEN), {});
    assert.deepEqual(await seen('seen-none', FULL_TOKEN), {});
    assert.deepEqual(await seen('seen-none', 'one-of-the-plugin'), { authorization: 'Bearer one-of-the-plugin' });
    assert.deepEqual(await seen('seen-none', undefined, { authorization: 'Basic YTpi' }), {
      authorization: 'Basic YTpi',
    });
  });

  it('sets headers of its own, and none of those that guard every answer', async (t) => {
    const ask = await serving(t);

    const { headers } = await ask('dressed', FULL_TOKEN);

    assert.deepEqual(
      ['content-type', 'x-content-type-options', 'x-own', 'set-cookie'].map((name) => headers.get(name)),
      ['text/html', 'nosniff', 'kept', 'own=1'],
    );
    assert.match(headers.get('content-security-policy') ?? '', /^default-src 'none'[^,]*$/);
  });

  it('that may change something is refused before it runs while the host takes nothing in; one that reads is not', async (t) => {
    const ask = await serving(t, () => {
      throw new SvcError('disk_budget', 'the disk is full', { details: { retryAfterMs: 30_000 } });
    });

    const { status, text, headers } = await ask('order', FULL_TOKEN, { method: 'POST' });

    assert.deepEqual([status, JSON.parse(text).code, headers.get('retry-after')], [503, 'disk_budget', '30']);
    assert.equal((await ask('default', FULL_TOKEN)).status, 200);
    assert.deepEqual(ask.failures, []);
  });

  it('that returns what ctx.send gave answers without a body', async (t) => {
    const ask = await serving(t);
    const { status, text } = await ask('said', FULL_TOKEN);
    assert.deepEqual([status, text, ask.failures], [200, '', []]);
  });

  it('fails, counted as other failures, where what it says cannot be written for its platform', async (t) => {
    const ask = await serving(t);

    const { status, text } = await ask('unwritable', FULL_TOKEN, { method: 'POST' });

    assert.deepEqual([status, JSON.parse(text).code], [500, 'plugin_failed']);
    assert.deepEqual(ask.failures, ['Error: what it says cannot be written for its platform: no such mark']);
  });

  it('whose answer is of another form fails, by its name and by what is expected, as other failures of it', async (t) => {
    const ask = await serving(t);
    for (const name of Object.keys(WRONG)) {
      const { status, text } = await ask(name, FULL_TOKEN);
      assert.deepEqual(
        [status, JSON.parse(text).code, JSON.parse(text).detail],
        [500, 'plugin_failed', undefined],
        name,
      );
      assert.ok(ask.failures.at(-1)?.includes(`root/shop#route/GET /${name} answers with `), ask.failures.at(-1));
    }
    assert.equal(ask.failures.length, Object.keys(WRONG).length);
    assert.match((await ask('trap', FULL_TOKEN)).text, /plugin_failed/);
    assert.match(ask.failures[0] ?? '', /a text that is a number; expected a string/);
  });
});
