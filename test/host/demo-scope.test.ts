// What the demo token shows of a host at work: no text, and nothing from which a short text could be guessed and checked at leisure, which
// a digest and an exact size are.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, it, type TestContext } from 'node:test';
import { HTTP, type Running, running } from '../support/hosts/app-host.ts';
import { temporaryProject } from '../support/temporary-project.ts';
import { until } from '../support/until.ts';

const DEMO = 'demo-token-0123456789abcdef';
const DIGEST = /[0-9a-f]{64}|sha256/;
const SIZE = /"bytes"/;

interface Shown {
  readonly path: string;
  readonly text: string;
  readonly etag: string | null;
}

/** What it listens for comes from the configuration, and is in the name of its listener as a digest. */
const LISTENING = `import { definePlugin, giveUp, t } from 'svc';
export default definePlugin({ name: 'listening', config: { word: t.string() }, setup(p) {
  p.on('message', { text: p.config.word, attempts: 1 }, () => { throw giveUp('heard'); });
} });`;

async function hostWithDemo(t: TestContext) {
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a reference of the configuration
  const http = { ...HTTP, demoToken: '${DEMO_TOKEN}' };
  const plugins = { sandbox: {}, ping: {}, listening: { use: './plugins/listening.mjs', word: 'sesame' } };
  const env = { DEMO_TOKEN: DEMO };
  const project = temporaryProject(t, {
    config: { http, plugins },
    env,
    plugins: { 'listening.mjs': LISTENING },
  });
  const host = await running(t, { project });
  const get = async (path: string, token: string): Promise<Shown> => {
    const url = `http://127.0.0.1:${host.app.address()?.port}${path}`;
    const response = await fetch(url, { headers: { authorization: `Bearer ${token}` } });
    assert.equal(response.status, 200, path);
    return { path, text: await response.text(), etag: response.headers.get('etag') };
  };
  return { host, demo: (path: string) => get(path, DEMO), full: (path: string) => get(path, host.project.token) };
}

async function say(host: Running, text: string): Promise<void> {
  await host.call('POST', '/api/chat/say', { person: 'ann', text, delivery: randomUUID() });
}

async function answered(host: Running): Promise<void> {
  const sent = async () => {
    const { items } = (await host.call('GET', '/api/outbox?state=sent')).json as { readonly items: readonly unknown[] };
    return items.length > 0 ? true : undefined;
  };
  await until(sent, { what: 'the answer' });
}

const idOf = ({ text }: Shown): string =>
  (JSON.parse(text) as { readonly items: readonly { readonly id: string }[] }).items[0]?.id ?? '';

describe('the demo token', () => {
  it('shows no digest and no exact size of what was written', async (t) => {
    const { host, demo, full } = await hostWithDemo(t);
    await say(host, '/ping');
    await answered(host);
    const texts = ['inbox', 'outbox'].map((store) => `/api/${store}`);
    const items = await Promise.all(texts.map(async (path) => `${path}/${idOf(await full(path))}`));
    const events = '/api/events?format=json&limit=1000';
    const others = ['/api/system/status', '/api/endpoints', '/api/plugins'];

    for (const path of [...texts, ...items, events, ...others]) {
      const { text } = await demo(path);
      assert.doesNotMatch(text, DIGEST, path);
      assert.doesNotMatch(text, SIZE, path);
    }
    for (const path of [...texts, ...items, events]) {
      const { text } = await full(path);
      assert.match(text, DIGEST, path);
      assert.match(text, SIZE, path);
    }
  });

  it('shows no size of what waits, one item as little as many', async (t) => {
    const { host, demo } = await hostWithDemo(t);
    await host.call('PUT', '/api/system/ingress', { state: 'paused' });
    await say(host, 'a text that waits');

    const status = JSON.parse((await demo('/api/system/status')).text) as { readonly inbox: object };
    const [, bytes = ''] = /^svc_inbox_pending_bytes\S* (\S+)$/m.exec((await demo('/api/metrics')).text) ?? [];

    assert.deepEqual(status.inbox, { items: 1 });
    assert.equal(Number(bytes), 1024);
  });

  it('shows a listener without the digest of what it listens for', async (t) => {
    const { host, demo, full } = await hostWithDemo(t);
    await say(host, 'sesame');
    const dead = await until(async () => idOf(await full('/api/inbox?state=dead')) || undefined, {
      what: 'the listener to fail',
    });

    for (const path of ['/api/plugins', `/api/inbox/${dead}`]) {
      assert.match((await full(path)).text, /"root\/listening#on\/message-[0-9a-f]{8}"/, path);
      assert.match((await demo(path)).text, /"root\/listening#on\/message"/, path);
      assert.doesNotMatch((await demo(path)).text, /#on\/message-/, path);
    }
  });

  it('gets no entity tag that is made of what an operator wrote', async (t) => {
    const { host, demo, full } = await hostWithDemo(t);
    const tags = async (reason: string): Promise<readonly (string | null)[]> => {
      await host.call('PUT', '/api/system/ingress', { state: 'paused', reason });
      return [(await demo('/api/system/ingress')).etag, (await full('/api/system/ingress')).etag];
    };

    const [demoFirst, fullFirst] = await tags('one');
    const [demoSecond, fullSecond] = await tags('two');

    assert.notEqual(fullFirst, fullSecond);
    assert.equal(demoFirst, demoSecond);
  });
});
