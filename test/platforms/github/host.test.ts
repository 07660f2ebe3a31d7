// github at the whole host, against the fake that GitHub's own client drives: deliveries signed by GitHub's own library come once, comments
// go out once, also over kill -9.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { Webhooks } from '@octokit/webhooks';
import { FakeGithub } from '../../support/fake-platforms/github.ts';
import { type RunningHost, runningHost } from '../../support/hosts/running-host.ts';
import { until } from '../../support/until.ts';

const HELLO = 'octo/hello';
const TOKEN = 'ghp_TokenOfTheBot0123456789';
const SECRET = 'the secret of the webhook, long enough';
const OLD_SECRET = 'the secret before, while one is renewed';
const MIB = 1_048_576;
/** Answers once the file is there; until then what was acknowledged is not handled. */
const GATED = `
import { existsSync } from 'node:fs';
import { definePlugin, md } from 'svc';
const open = async (gate, signal) => {
  while (!existsSync(gate)) {
    if (signal.aborted) throw signal.reason;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
};
export default definePlugin({
  name: 'gated',
  config: { gate: { type: 'string' } },
  setup(p) {
    p.on('message', {}, async (ctx, event) => {
      await open(p.config.gate, ctx.signal);
      return 'answer to ' + event.text;
    });
  },
});
`;

interface Scene {
  readonly host: RunningHost;
  readonly fake: FakeGithub;
}

async function scene(
  t: TestContext,
  plugins: Record<string, unknown> = { echo: {} },
  prepare: (fake: FakeGithub) => void = () => {},
): Promise<Scene> {
  const fake = await new FakeGithub({ [TOKEN]: 'helper-bot' }).start(t);
  prepare(fake);
  for (const number of [1, 2, 3]) fake.data.open(HELLO, number);
  // biome-ignore-start lint/suspicious/noTemplateCurlyInString: references of the configuration
  const account = {
    id: 'main',
    login: 'helper-bot',
    token: '${GITHUB_TOKEN}',
    secrets: ['${GITHUB_SECRET}', '${OLD_SECRET}'],
    apiUrl: fake.url,
    repositories: [HELLO],
  };
  // biome-ignore-end lint/suspicious/noTemplateCurlyInString: references of the configuration
  const host = await runningHost(t, {
    plugins: { github: { endpoints: [account] }, ...plugins },
    env: { GITHUB_TOKEN: TOKEN, GITHUB_SECRET: SECRET, OLD_SECRET },
    http: { publicUrl: 'https://bot.example' },
    sources: { 'gated.mjs': GATED },
  });
  return { host, fake };
}

interface Delivery {
  readonly event?: string;
  readonly id?: string;
  readonly secret?: string;
  /** What is sent, if something else than what was signed. */
  readonly sent?: string;
}

async function deliver(
  host: RunningHost,
  payload: object,
  { event = 'issue_comment', id = randomUUID(), secret = SECRET, sent }: Delivery = {},
): Promise<number> {
  const body = JSON.stringify(payload);
  const { status } = await fetch(`${host.url}webhooks/github/main`, {
    method: 'POST',
    body: sent ?? body,
    headers: {
      'content-type': 'application/json',
      'user-agent': 'GitHub-Hookshot/044aadd',
      'x-github-event': event,
      'x-github-delivery': id,
      'x-hub-signature-256': await new Webhooks({ secret }).sign(body),
    },
  });
  return status;
}

const said = (body: string, number = 1, login = 'ann') => ({
  action: 'created',
  repository: { full_name: HELLO },
  issue: { number, title: 'Spelling' },
  comment: { id: 12, body, user: { login }, created_at: '2026-01-01T00:00:00Z' },
  sender: { login },
});

async function inboxOf(host: RunningHost): Promise<readonly { readonly state: string }[]> {
  return ((await host.get('api/inbox')) as { items: readonly { state: string }[] }).items;
}

describe('github at the whole host', { timeout: 590_000 }, () => {
  it('answers a signed delivery with a comment, and a redelivery of it only with 200, also after a kill', async (t) => {
    const { host, fake } = await scene(t);
    const id = randomUUID();

    assert.equal(await deliver(host, said('/echo hello'), { id }), 200);
    await until(() => fake.data.shown(HELLO, 1).length === 1, { what: 'the comment' });
    assert.equal(await deliver(host, said('/echo hello'), { id }), 200);
    await host.stop('SIGKILL');
    await host.start();
    assert.equal(await deliver(host, said('/echo hello'), { id }), 200);
    assert.equal(await deliver(host, said('/echo again'), { secret: OLD_SECRET }), 200);
    await until(() => fake.data.shown(HELLO, 1).includes('again'), { what: 'the second comment' });

    assert.deepEqual(fake.data.shown(HELLO, 1), ['hello', 'again']);
    assert.equal((await inboxOf(host)).length, 2);
  });

  it('is degraded while the API is down at the start, says why, and takes deliveries', async (t) => {
    const down = { status: 503, json: { message: 'down for maintenance' } };
    const { host } = await scene(t, { echo: {} }, (platform) => {
      platform.misbehave = () => down;
    });
    const account = async () => {
      const { endpoints } = (await host.get('api/endpoints')) as { endpoints: readonly Record<string, unknown>[] };
      return endpoints[0];
    };
    await until(async () => (await account())?.['state'] === 'degraded', { what: 'the account to be degraded' });
    const { lastError } = (await account()) ?? {};

    assert.equal(await deliver(host, said('/echo hello')), 200);
    await until(async () => (await inboxOf(host))[0]?.state === 'done', { what: 'the delivery to be handled' });

    assert.match(JSON.stringify(lastError), /503.*maintenance/);
  });

  it('loses nothing that came once and was acknowledged before a kill -9', async (t) => {
    const gate = join(tmpdir(), `svc-gate-${randomUUID()}`);
    const { host, fake } = await scene(t, { gated: { use: './plugins/gated.mjs', gate } });
    t.after(() => rmSync(gate, { force: true }));

    const numbers = [1, 2, 3];
    for (const number of numbers) assert.equal(await deliver(host, said(`question ${number}`, number)), 200);
    await host.stop('SIGKILL');
    assert.deepEqual(fake.data.comments, []);
    writeFileSync(gate, '');
    await host.start();
    await until(() => fake.data.comments.length >= 3, { what: 'the answers' });
    await until(async () => (await inboxOf(host)).every(({ state }) => state === 'done'), { what: 'the end of all' });

    for (const number of numbers) assert.deepEqual(fake.data.shown(HELLO, number), [`answer to question ${number}`]);
  });

  it('comments once where the answer of GitHub was lost, also when the host is killed on it', async (t) => {
    const { host, fake } = await scene(t);
    const isPost = ({ method, path }: { method: string; path: string }) =>
      method === 'POST' && path.endsWith('/comments');
    let killed: Promise<void> | undefined;
    fake.misbehave = (request) => {
      if (!isPost(request) || killed !== undefined) return undefined;
      killed = host.stop('SIGKILL');
      return 'drop';
    };

    await deliver(host, said('/echo once'));
    await until(() => killed !== undefined, { what: 'the comment' });
    await killed;
    await host.start();
    await until(
      () => fake.requests.some((request) => request.startsWith('GET') && request.endsWith('/issues/comments')),
      {
        what: 'the question whether it was made',
      },
    );
    await deliver(host, said('/echo twice'));
    await until(() => fake.data.shown(HELLO, 1).includes('twice'), { what: 'the next comment' });

    assert.deepEqual(fake.data.shown(HELLO, 1), ['once', 'twice']);
  });

  it('answers 401 to a wrong signature and stores nothing; a ping is answered, own comments are dropped', async (t) => {
    const { host } = await scene(t);
    const body = said('/echo x');

    assert.equal(await deliver(host, body, { secret: 'another secret, as long as it may be' }), 401);
    assert.equal(await deliver(host, body, { sent: `${JSON.stringify(body)}\n` }), 401);
    assert.equal(await deliver(host, body, { event: 'ping', secret: 'another secret, as long as it may be' }), 401);
    assert.equal(await deliver(host, { zen: 'Design for failure.', hook_id: 1 }, { event: 'ping' }), 200);
    assert.equal(await deliver(host, said('/echo x', 1, 'helper-bot')), 200);

    assert.deepEqual(await inboxOf(host), []);
    assert.ok(!host.output().includes(SECRET) && !host.output().includes(TOKEN));
  });

  it('takes up to 25 MiB, as GitHub sends it', async (t) => {
    const { host } = await scene(t);
    const push = (bytes: number) => ({
      repository: { full_name: HELLO },
      sender: { login: 'ann' },
      x: 'x'.repeat(bytes),
    });

    const around = JSON.stringify(push(0)).length;
    assert.equal(await deliver(host, push(25 * MIB - around), { event: 'push' }), 200);
    assert.equal(await deliver(host, push(25 * MIB - around + 1), { event: 'push' }).catch(() => 413), 413);
    assert.equal((await inboxOf(host)).length, 1);
  });

  it('registers its webhook at GitHub, and sets it again', async (t) => {
    const { host, fake } = await scene(t);
    const register = async (): Promise<{ readonly done: string }> => {
      const answer = await fetch(`${host.url}api/webhooks/github~main/register`, {
        method: 'POST',
        body: '{}',
        headers: {
          authorization: `Bearer ${host.project.token}`,
          'content-type': 'application/json',
          'idempotency-key': randomUUID(),
        },
      });
      assert.equal(answer.status, 200, await answer.clone().text());
      return (await answer.json()) as { readonly done: string };
    };

    const [first, second] = [await register(), await register()];

    const [hook, ...more] = fake.data.hooks;
    assert.deepEqual(more, []);
    assert.equal(hook?.config['url'], 'https://bot.example/webhooks/github/main');
    assert.deepEqual([hook.config['secret'], hook.config['content_type']], [SECRET, 'json']);
    assert.ok(hook.events.includes('issue_comment'));
    assert.match(first.done, /made/);
    assert.match(second.done, /set again/);
    assert.ok(!JSON.stringify([first, second]).includes(SECRET));
  });

  it('asks GitHub at a start to repeat what failed while it was down, and asks once', async (t) => {
    const config = { url: 'https://bot.example/webhooks/github/main' };
    const failed = ({ data }: FakeGithub, id: number, delivered_at: string): void => {
      data.deliveries.push({ id, hook: 5, guid: randomUUID(), delivered_at, status_code: 502, event: 'issues' });
    };
    const hourAgo = new Date(Date.now() - 3_600_000).toISOString();
    // There before the first start, which looks at all that GitHub keeps; each later one goes on from where the last one looked.
    const { host, fake } = await scene(t, { echo: {} }, (empty) => {
      empty.data.hooks.push({ id: 5, repository: HELLO, events: ['issues'], active: true, config });
      failed(empty, 6, hourAgo);
    });
    const asked = (): number => host.output().split('was asked for deliveries').length - 1;
    await until(() => asked() === 1, { what: 'the question' });
    await host.stop();
    // Both would be asked for in this order, had it not looked at that hour already.
    failed(fake, 7, hourAgo);
    failed(fake, 8, new Date().toISOString());
    await host.start();
    await until(() => asked() === 2, { what: 'the next question' });

    assert.deepEqual(fake.data.redelivered, [6, 8]);
  });
});
