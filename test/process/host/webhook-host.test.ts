// Signed webhooks at the whole host: taken once, over restarts; answers go out signed. Signatures are made and checked by another
// implementation of Standard Webhooks.
import assert from 'node:assert/strict';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { type RunningHost, runningHost } from '../../support/hosts/running-host.ts';
import { until } from '../../support/until.ts';

const SHOP = `whsec_${Buffer.alloc(32, 3).toString('base64')}`;
const DESK = `whsec_${Buffer.alloc(32, 4).toString('base64')}`;
const line = (text: string): string => JSON.stringify({ conversation: { id: 'room-1' }, user: { id: 'ann' }, text });

describe('webhook at the whole host', { timeout: 900_000, concurrency: 3 }, () => {
  it('takes a delivery once, also after a kill, and answers it signed, with a key that stays the same', async (t) => {
    const { host, received } = await hostWithReceiver(t);

    assert.ok((await deliver(host, { id: 'm1', body: line('/echo hello') })).ok);
    await until(() => received.length === 1, { what: 'the answer' });
    assert.ok((await deliver(host, { id: 'm1', body: line('/echo hello') })).ok);
    await host.stop('SIGKILL');
    await host.start();
    assert.ok((await deliver(host, { id: 'm1', body: line('/echo hello') })).ok);
    assert.ok((await deliver(host, { id: 'm2', body: line('/echo again') })).ok);
    await until(() => received.some(({ text }) => text === 'again'), { what: 'the second answer' });

    const [first] = received;
    assert.ok(first);
    assert.doesNotThrow(() => new Webhook(SHOP).verify(first.raw, first.headers as Record<string, string>));
    assert.equal(new Set(received.map(({ key, text }) => `${key} ${text}`)).size, 2);
    assert.deepEqual([...new Set(received.map(({ text }) => text))], ['hello', 'again']);
  });

  it('answers 2xx to the same id with another body, and stores nothing of it', async (t) => {
    const { host, received } = await hostWithReceiver(t);
    await deliver(host, { id: 'm1', body: line('/echo one') });
    await until(() => received.length === 1, { what: 'the answer' });

    const conflict = await deliver(host, { id: 'm1', body: line('/echo two') });
    const elsewhere = await deliver(host, { id: 'm1', body: line('/echo three'), account: 'desk', secret: DESK });
    await until(() => received.some(({ text }) => text === 'three'), { what: "the other endpoint's own event" });

    assert.deepEqual([conflict.ok, elsewhere.ok], [true, true]);
    assert.deepEqual(
      received.map(({ text }) => text),
      ['one', 'three'],
    );
    assert.deepEqual((await inboxOf(host)).length, 2);
    assert.match(
      await (
        await fetch(`${host.url}api/metrics`, { headers: { authorization: `Bearer ${host.project.token}` } })
      ).text(),
      /conflict/,
    );
  });

  it('answers 401 to what is not signed as it must be, and tells nothing', async (t) => {
    const { host } = await hostWithReceiver(t);
    const body = line('/echo x');
    const refused = [
      await deliver(host, { id: 'm1', body, sent: `${body}\n` }),
      await deliver(host, { id: 'm1', body, atSeconds: Math.floor(Date.now() / 1_000) - 302 }),
      await deliver(host, { id: 'm1', body, atSeconds: Math.floor(Date.now() / 1_000) + 302 }),
      await deliver(host, { id: 'm1', body, secret: DESK }),
      await fetch(`${host.url}webhooks/webhook/shop`, {
        method: 'POST',
        body,
        headers: { authorization: `Bearer ${host.project.token}` },
      }),
      await fetch(`${host.url}api/system/status`, { headers: { authorization: `Bearer ${SHOP.slice(6)}` } }),
    ];

    assert.deepEqual(
      refused.map(({ status }) => status),
      Array(6).fill(401),
    );
    for (const answer of refused.slice(0, 5))
      assert.doesNotMatch(await answer.text(), /minutes|wrong signature|whsec|secret/i);
    assert.deepEqual(await inboxOf(host), []);
    const headers = { authorization: `Bearer ${host.project.token}` };
    const metrics = await (await fetch(`${host.url}api/metrics`, { headers })).text();
    assert.match(metrics, /^svc_webhooks_total\{[^}]*webhook~shop",outcome="bad_signature",[^}]*\} 5$/m);
    await until(() => host.output().includes('a delivery was refused'), { what: 'the line in the log' });
    const lines = host.output().split('a delivery was refused').length - 1;
    assert.ok(lines < 5, `${lines} lines: one a minute`);
    assert.doesNotMatch(host.output(), new RegExp([SHOP, DESK].map((key) => key.slice(6)).join('|')));
  });

  it('turns deliveries away while ingress rejects, and counts them', async (t) => {
    const { host } = await hostWithReceiver(t);
    const headers = { authorization: `Bearer ${host.project.token}` };
    const paused = await fetch(`${host.url}api/system/ingress`, {
      method: 'PUT',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify({ state: 'paused', mode: 'reject' }),
    });
    assert.equal(paused.status, 200);

    const refused = await deliver(host, { id: 'm1', body: line('/echo x') });

    assert.equal(refused.status, 503);
    const metrics = await (await fetch(`${host.url}api/metrics`, { headers })).text();
    assert.match(metrics, /^svc_webhooks_total\{[^}]*webhook~shop",outcome="rejected",[^}]*\} 1$/m);
  });

  it('takes a signed body of any form, prototype-safe, and goes on', async (t) => {
    const { host, received } = await hostWithReceiver(t);
    const bodies = [
      '{"__proto__":{"polluted":1},"type":"x"}',
      '[]',
      'not json',
      '',
      `${'['.repeat(50_000)}${']'.repeat(50_000)}`,
      `{"type":"x","n":1e999,"s":"\\ud800"}`,
    ];

    const statuses: number[] = [];
    for (const [i, body] of bodies.entries()) statuses.push((await deliver(host, { id: `b${i}`, body })).status);
    await deliver(host, { id: 'm1', body: line('/echo still here') });
    await until(() => received.length === 1, { what: 'the answer' });

    assert.ok(
      statuses.every((status) => status >= 200 && status < 300),
      String(statuses),
    );
    assert.equal(received[0]?.text, 'still here');
  });

  it('hands files over both ways: by the address that a message names, and as a signed link', async (t) => {
    const { host, received, url } = await hostWithReceiver(t);
    const body = JSON.stringify({
      ...(JSON.parse(line('@Bob look')) as object),
      mentions: [{ text: '@Bob', user: 'bob' }],
      files: [{ url: `${url}a.txt`, mime: 'text/plain' }],
    });

    assert.ok((await deliver(host, { id: 'm1', body })).ok);
    await until(() => received.length === 1, { what: 'the answer' });

    const answer = JSON.parse(received[0]?.raw ?? '') as {
      text: string;
      mentions: unknown;
      files: { url: string; name: string }[];
    };
    assert.deepEqual([answer.text, answer.mentions], ['@bob: bytes of a file', [{ text: '@bob', user: 'bob' }]]);
    const [file] = answer.files;
    assert.ok(file);
    assert.ok(file.url.startsWith('https://bot.example/files/'), file.url);
    assert.equal(file.name, 'a.txt');
    const linked = await fetch(file.url.replace('https://bot.example/', host.url));
    assert.equal(await linked.text(), 'bytes of a file');
  });

  it('fails an account whose secret can never verify, with its remedy, and serves the others', async (t) => {
    const { host } = await hostWithReceiver(t, { shop: 'hunter2-is-no-secret' });

    const states = await until(
      async () => {
        const { endpoints } = (await host.get('api/endpoints')) as {
          endpoints: readonly { name: string; state: string }[];
        };
        return endpoints.every(({ state }) => state !== 'connecting') ? endpoints : undefined;
      },
      { what: 'both accounts to have come up, or failed' },
    );

    assert.deepEqual(Object.fromEntries(states.map(({ name, state }) => [name, state])), {
      'webhook~desk': 'online',
      'webhook~shop': 'failed',
    });
    assert.match(JSON.stringify(states), /whsec_/);
    assert.doesNotMatch(JSON.stringify(states) + host.output(), /hunter2/);
  });
});

/** Says to whom what was in the file, and sends it back. */
const BACK = `import { definePlugin, md } from 'svc';
export default definePlugin({ name: 'back', setup(p) {
  p.on('message', {}, async (ctx, { files: [file], segments }) => {
    if (file === undefined) return undefined;
    const bytes = await ctx.readFile(file);
    const who = segments.find(({ kind }) => kind === 'mention');
    return { text: md\`\${who}: \${Buffer.from(bytes).toString()}\`, files: [await ctx.saveFile(file.name, file.mime, bytes)] };
  });
} });
`;

interface Received {
  readonly headers: IncomingHttpHeaders;
  readonly raw: string;
  readonly key: string;
  readonly text: string;
}

async function hostWithReceiver(
  t: TestContext,
  { shop = SHOP } = {},
): Promise<{ readonly host: RunningHost; readonly received: readonly Received[]; readonly url: string }> {
  const received: Received[] = [];
  const receiver = createServer((request, response) => {
    if (request.method === 'GET') return void response.end('bytes of a file');
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const raw = Buffer.concat(chunks).toString();
      const { text } = JSON.parse(raw) as { text: string };
      received.push({ headers: request.headers, raw, key: String(request.headers['webhook-id']), text });
      response.writeHead(204).end();
    });
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    receiver.closeAllConnections();
    receiver.close();
  });
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
  // biome-ignore lint/suspicious/noTemplateCurlyInString: references of the configuration
  const endpoints = [
    { id: 'shop', url, secrets: ['${SHOP_SECRET}'] },
    { id: 'desk', url, secrets: ['${DESK_SECRET}'] },
  ];
  const host = await runningHost(t, {
    http: { publicUrl: 'https://bot.example' },
    plugins: { webhook: { endpoints }, echo: {}, back: { use: './plugins/back.js' } },
    sources: { 'back.js': BACK },
    env: { SHOP_SECRET: shop, DESK_SECRET: DESK },
  });
  return { host, received, url };
}

interface Delivery {
  readonly id: string;
  /** What is signed. */
  readonly body: string;
  /** What is sent, if something else. */
  readonly sent?: string;
  readonly account?: 'shop' | 'desk';
  readonly secret?: string;
  readonly atSeconds?: number;
}
function deliver(
  host: RunningHost,
  { id, body, sent = body, account = 'shop', secret = SHOP, atSeconds = Math.floor(Date.now() / 1_000) }: Delivery,
): Promise<Response> {
  const signature = new Webhook(secret).sign(id, new Date(atSeconds * 1_000), body);
  const headers = {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': String(atSeconds),
    'webhook-signature': signature,
  };
  return fetch(`${host.url}webhooks/webhook/${account}`, { method: 'POST', headers, body: sent });
}

async function inboxOf(host: RunningHost): Promise<readonly unknown[]> {
  return ((await host.get('api/inbox')) as { items: readonly unknown[] }).items;
}
