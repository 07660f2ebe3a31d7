// Signed deliveries at the whole host in this process: addresses as people enter them, and bodies that are no message.
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { HTTP, type Running, running } from '../../support/hosts/app-host.ts';
import { temporaryProject } from '../../support/temporary-project.ts';

const SECRET = `whsec_${Buffer.alloc(32, 3).toString('base64')}`;
const MESSAGE = { conversation: { id: 'room-1' }, user: { id: 'ann' }, text: 'hello' };
const HOOK = `import { definePlugin, t } from 'svc';
export default definePlugin({ name: 'own', setup(p) {
  p.webhook('hook', { body: t.object({ text: t.string() }), verify: () => ({ kind: 'ok' }), delivery: ({ headers }) => headers['webhook-id'] }, () => {}); } });
`;

async function host(t: TestContext): Promise<Running> {
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a reference of the configuration
  const webhook = { endpoints: [{ id: 'shop', secrets: ['${SHOP}'] }] };
  const config = { http: HTTP, plugins: { webhook, own: { use: './plugins/own.mjs' } } };
  return running(t, { project: temporaryProject(t, { config, env: { SHOP: SECRET }, plugins: { 'own.mjs': HOOK } }) });
}

async function deliver(
  { app }: Running,
  path: string,
  body: object,
  id = path,
): Promise<{ status: number; json: unknown }> {
  const text = JSON.stringify(body);
  const at = new Date();
  const answer = await fetch(`http://127.0.0.1:${app.address()?.port}${path}`, {
    method: 'POST',
    body: text,
    headers: {
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
      'webhook-signature': new Webhook(SECRET).sign(id, at, text),
    },
  });
  return { status: answer.status, json: await answer.json() };
}

describe('an address of a webhook', () => {
  it('is taken with a slash at its end, and is the same account', async (t) => {
    const running = await host(t);

    const slashed = await deliver(running, '/webhooks/webhook/shop/', MESSAGE, 'm1');
    const again = await deliver(running, '/webhooks/webhook/shop', MESSAGE, 'm1');
    const ofPlugin = await deliver(running, '/webhooks/own/hook/', MESSAGE);
    const unknown = await deliver(running, '/webhooks/webhook/shop/x', MESSAGE);

    assert.deepEqual([slashed.status, slashed.json], [200, { accepted: 1, duplicates: 0 }]);
    assert.deepEqual(again.json, { accepted: 0, duplicates: 1 });
    assert.deepEqual([ofPlugin.status, unknown.status], [202, 404]);
  });
});

describe('a signed delivery without a conversation', () => {
  it('is told of in the log, and stored as what it is', async (t) => {
    const running = await host(t);

    for (const id of ['m1', 'm2']) await deliver(running, '/webhooks/webhook/shop', { text: 'hello' }, id);

    const lines = running.project
      .read('.svc/runtime.log')
      .split('\n')
      .filter((line) => line.includes('is no message by its form'));
    assert.equal(lines.length, 1);
    assert.match(lines[0] ?? '', /"endpoint":"root\/webhook:webhook~shop","fault":"conversation and user are missing"/);
    const { json } = await running.call('GET', '/api/inbox');
    assert.equal((json['items'] as readonly unknown[]).length, 2);
  });
});
