// One account that floods the inbox of a whole host while its handler hangs: the others are heard all the same, also after a kill.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { type RunningHost, runningHost } from '../../support/hosts/running-host.ts';
import { until } from '../../support/until.ts';

const KEYS = { loud: Buffer.alloc(32, 3), calm: Buffer.alloc(32, 4) };
const secretOf = (account: Account): string => `whsec_${KEYS[account].toString('base64')}`;
type Account = keyof typeof KEYS;

const HANGS = {
  'hangs.mjs': `import { definePlugin } from 'svc';
export default definePlugin({ name: 'hangs', setup(p) {
  p.on('message', {}, (ctx, { text }) => (text === 'hang' ? new Promise(() => {}) : undefined));
} });
`,
};

describe('the inbox of a host with several accounts', { timeout: 900_000 }, () => {
  it('is filled by one account to its bound alone, and takes and handles what comes for the other, also after a kill', async (t) => {
    // biome-ignore-start lint/suspicious/noTemplateCurlyInString: references of the configuration
    const endpoints = [
      { id: 'loud', secrets: ['${LOUD_SECRET}'] },
      { id: 'calm', secrets: ['${CALM_SECRET}'] },
    ];
    // biome-ignore-end lint/suspicious/noTemplateCurlyInString: references of the configuration
    const host = await runningHost(t, {
      plugins: { webhook: { endpoints }, hangs: { use: './plugins/hangs.mjs' } },
      env: { LOUD_SECRET: secretOf('loud'), CALM_SECRET: secretOf('calm') },
      config: { inbox: { maxPending: 100 } },
      sources: HANGS,
    });
    await isReady(host);
    let taken = 0;
    let refused: Response | undefined;
    for (; refused === undefined; taken += 1) {
      const answer = await deliver(host, 'loud', 'hang');
      if (!answer.ok) refused = answer;
      assert.ok(taken < 110, 'the flood is never refused');
    }

    assert.equal(await codeOf(refused), 'inbox_full');
    assert.match(refused.headers.get('retry-after') ?? '', /^\d+$/);
    await hearsCalm(host, 5);
    await host.stop('SIGKILL');
    await host.start();
    await isReady(host);
    assert.equal(await codeOf(await deliver(host, 'loud', 'hang')), 'inbox_full');
    await hearsCalm(host, 10);

    const line =
      host
        .output()
        .split('\n')
        .find((text) => text.includes('turned away')) ?? '';
    assert.match(line, /"endpoint":"root\/webhook:webhook~loud".*of this endpoint would wait/);
    assert.match(await metrics(host), /^svc_webhooks_total\{[^}]*webhook~loud",outcome="rejected",[^}]*\} 1$/m);
  });
});

/** Five more for the account that is calm; resolves when `all` of its messages are done. */
async function hearsCalm(host: RunningHost, all: number): Promise<void> {
  for (let n = 0; n < 5; n += 1) {
    const answer = await deliver(host, 'calm', 'hello');
    assert.equal(answer.status, 200, await answer.text());
  }
  await until(
    async () => {
      const page = await host.get('api/inbox?endpoint=root/webhook:webhook~calm&state=done');
      return (page as { readonly items: readonly unknown[] }).items.length === all;
    },
    { what: 'the messages of the calm account to be handled' },
  );
}

const isReady = (host: RunningHost): Promise<unknown> =>
  until(async () => (await fetch(`${host.url}pub/ready`)).ok, { what: 'the host to be ready' });

async function codeOf(answer: Response): Promise<unknown> {
  return ((await answer.json()) as { readonly code?: unknown }).code;
}

async function metrics(host: RunningHost): Promise<string> {
  const headers = { authorization: `Bearer ${host.project.token}` };
  return (await fetch(`${host.url}api/metrics`, { headers })).text();
}

let count = 0;

/** Each in a conversation of its own. */
function deliver(host: RunningHost, account: Account, text: string): Promise<Response> {
  count += 1;
  const id = `m${count}`;
  const body = JSON.stringify({ conversation: { id: `room-${count}` }, user: { id: 'ann' }, text });
  const at = new Date();
  return fetch(`${host.url}webhooks/webhook/${account}`, {
    method: 'POST',
    body,
    headers: {
      'content-type': 'application/json',
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
      'webhook-signature': new Webhook(secretOf(account)).sign(id, at, body),
    },
  });
}
