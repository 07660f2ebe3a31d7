// Sends of the adapter github against the fake that GitHub's own client drives in fake-github.test.ts.
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { github } from '../../../worker/adapters/github/index.ts';
import type { Outgoing } from '../../../worker/sdk/index.ts';
import { adapterBench, type Bench } from '../../../worker/testing/adapter-suite/adapter-bench.ts';
import { FakeGithub } from '../../support/fake-platforms/github.ts';

const HELLO = 'octo/hello';
const ISSUE = 'octo/hello#7';
const PULL = 'octo/hello#8';
const DISCUSSION = 'octo/hello/discussions#9';
const SECRET = 'a secret of the webhook';

interface Scene {
  readonly fake: FakeGithub;
  readonly bench: Bench;
}

async function scene(t: TestContext, account: Record<string, unknown> = {}): Promise<Scene> {
  const fake = await new FakeGithub({ 'ghp-bot': 'helper-bot', 'ghp-ann': 'ann' }).start(t);
  fake.data.open(HELLO, 7);
  fake.data.open(HELLO, 8, 'pull');
  fake.data.open(HELLO, 9, 'discussion');
  const bench = adapterBench(github, {
    login: 'helper-bot',
    token: 'ghp-bot',
    secrets: [SECRET],
    apiUrl: fake.url,
    ...account,
  });
  t.after(() => bench.stop());
  return { fake, bench };
}

type Post = Extract<Outgoing, { readonly kind: 'post' | 'edit' }>;
const post = (more: Partial<Post> = {}): Outgoing => ({
  kind: 'post',
  key: 'k1',
  conversation: ISSUE,
  text: 'hello',
  buttons: [],
  files: [],
  ...more,
});
const messageIn = (result: Awaited<ReturnType<Bench['send']>>): string =>
  (result.kind === 'sent' ? result.message : undefined) ?? '';

describe('sends of github', () => {
  it('comments, changes and removes, also what is gone already', async (t) => {
    const { fake, bench } = await scene(t);

    const message = messageIn(await bench.send(post()));
    const edited = await bench.send(post({ kind: 'edit', key: 'k2', message, text: 'hello again' }));

    assert.match(message, /^comment:\d+$/);
    assert.deepEqual([edited.kind, fake.data.shown(HELLO, 7)], ['sent', ['hello again']]);
    const remove = { kind: 'remove', conversation: ISSUE, message } as const;
    assert.deepEqual(await bench.send({ ...remove, key: 'k3' }), { kind: 'sent' });
    assert.deepEqual(await bench.send({ ...remove, key: 'k3', repeat: true }), { kind: 'sent' });
    assert.deepEqual(fake.data.shown(HELLO, 7), []);
  });

  it('changes the text of an issue, and answers a review in its thread', async (t) => {
    const { fake, bench } = await scene(t);
    const root = fake.data.comment({ kind: 'review', repository: HELLO, number: 8, user: 'ann', body: 'why?' });
    const thread = `review-comment:${root.id}`;

    await bench.send(post({ kind: 'edit', message: 'body', text: 'new body' }));
    const message = messageIn(await bench.send(post({ key: 'k2', conversation: PULL, thread })));
    await bench.send(post({ kind: 'edit', key: 'k3', conversation: PULL, message, text: 'because' }));

    assert.equal(fake.data.subject(HELLO, 7)?.body, 'new body');
    assert.match(message, /^review-comment:\d+$/);
    assert.deepEqual(
      fake.data.comments.map(({ root: under, body }) => [under, body]),
      [
        [undefined, 'why?'],
        [root.id, 'because'],
      ],
    );
  });

  it('reacts with the eight that GitHub has, takes them back, and refuses others', async (t) => {
    const { fake, bench } = await scene(t);
    const message = messageIn(await bench.send(post()));
    const react = (emoji: string, on: boolean, to = message) =>
      bench.send({ kind: 'react', key: `${emoji}${String(on)}`, conversation: ISSUE, message: to, emoji, on });
    // More than GitHub gives at once: its own is on the second page.
    for (let id = 1; id <= 100; id += 1)
      fake.data.reactions.push({ id, subject: `issues/comments/${message.slice(8)}`, content: 'heart', user: 'ann' });

    for (const emoji of ['👍', '❤️', 'eyes']) assert.equal((await react(emoji, true)).kind, 'sent');
    assert.equal((await react('🎉', true, 'body')).kind, 'sent');
    assert.equal((await react('❤', false)).kind, 'sent');
    assert.equal((await react('🚀', false)).kind, 'sent');
    assert.match(JSON.stringify(await react('🍕', true)), /refused.*👍/);
    assert.equal((await react('👍', true, 'review:5')).kind, 'refused');

    assert.deepEqual(
      fake.data.reactions.slice(99).map(({ content, user }) => `${content} ${user}`),
      ['heart ann', '+1 helper-bot', 'eyes helper-bot', 'hooray helper-bot'],
    );
  });

  it('counts a comment of a discussion that is gone as removed: a repeat must not fail', async (t) => {
    const { fake, bench } = await scene(t);
    const message = messageIn(await bench.send(post({ conversation: DISCUSSION, text: 'first' })));
    const removal = { key: 'r', conversation: DISCUSSION, kind: 'remove', message } as const;

    const results = [await bench.send(removal), await bench.send({ ...removal, repeat: true })];

    assert.deepEqual(results, [{ kind: 'sent' }, { kind: 'sent' }]);
    assert.deepEqual(fake.data.comments, []);
  });

  it('speaks in discussions, under the comment that it answers', async (t) => {
    const { fake, bench } = await scene(t);
    const first = fake.data.comment({ kind: 'discussion', repository: HELLO, number: 9, user: 'ann', body: 'hm' });
    const of = { conversation: DISCUSSION };

    const message = messageIn(await bench.send(post({ ...of, thread: `discussion-thread:${first.id}` })));
    await bench.send(post({ ...of, key: 'k2', thread: message, text: 'and' }));
    await bench.send(post({ ...of, key: 'k3', text: 'alone' }));
    await bench.send(post({ ...of, kind: 'edit', key: 'k4', message, text: 'hello!' }));
    await bench.send({ ...of, kind: 'react', key: 'k5', message, emoji: '🚀', on: true });

    assert.deepEqual(
      fake.data.comments.map(({ root, body }) => [root, body.split('\n')[0]]),
      [
        [undefined, 'hm'],
        [first.id, 'hello!'],
        [first.id, 'and'],
        [undefined, 'alone'],
      ],
    );
    assert.deepEqual(fake.data.reactions[0]?.content, 'ROCKET');
    assert.equal((await bench.send({ ...of, kind: 'remove', key: 'k6', message })).kind, 'sent');
    assert.equal((await bench.send(post({ conversation: 'octo/hello/discussions#404' }))).kind, 'refused');
  });

  it('finds what an attempt without an answer has made, wherever it was made', async (t) => {
    const { fake, bench } = await scene(t);
    const review = fake.data.comment({ kind: 'review', repository: HELLO, number: 8, user: 'ann', body: 'why?' });
    const places: readonly Partial<Post>[] = [
      { conversation: ISSUE },
      { conversation: PULL, thread: `review-comment:${review.id}` },
      { conversation: DISCUSSION },
    ];

    for (const place of places) {
      fake.misbehave = ({ method, json }) =>
        method === 'POST' && JSON.stringify(json).includes('svc ') ? 'drop' : undefined;
      await assert.rejects(bench.send(post(place)), place.conversation);
      fake.misbehave = undefined;
      const count = fake.data.comments.length;
      const again = await bench.send(post({ ...place, repeat: true }));
      assert.match(messageIn(again), /^[a-z-]+:\w+$/);
      assert.equal(fake.data.comments.length, count);
      await bench.send(post({ ...place, key: `other ${place.conversation ?? ''}`, repeat: true }));
      assert.equal(fake.data.comments.length, count + 1);
    }
  });

  it('is not led astray by a mark that somebody copied', async (t) => {
    const { fake, bench } = await scene(t);
    await bench.send(post());
    const [mine] = fake.data.comments;
    assert.ok(mine);
    fake.data.comment({ ...mine, user: 'ann' });
    fake.data.remove(mine);

    await bench.send(post({ repeat: true }));

    assert.deepEqual(
      fake.data.comments.map(({ user }) => user),
      ['ann', 'helper-bot'],
    );
  });

  it('waits as long as GitHub says, for all of the account, and makes no call meanwhile', async (t) => {
    const { fake, bench } = await scene(t);
    fake.remaining = 0;

    const first = await bench.send(post());
    const asked = fake.requests.length;
    const second = await bench.send(post({ conversation: PULL, key: 'k2' }));

    assert.equal(asked, 1);
    assert.equal(fake.requests.length, 1);
    for (const result of [first, second]) {
      assert.equal(result.kind === 'later' && result.account, true);
      const waitMs = result.kind === 'later' ? result.afterMs : 0;
      assert.ok(waitMs > 3_000_000 && waitMs <= 3_600_000, String(waitMs));
    }
  });

  it("counts by GitHub's clock where ours is wrong", async (t) => {
    const { fake, bench } = await scene(t);
    fake.misbehave = () => ({
      status: 403,
      json: { message: 'API rate limit exceeded' },
      headers: {
        date: 'Sun, 06 Nov 1994 08:49:37 GMT',
        'x-ratelimit-remaining': '0',
        'x-ratelimit-reset': String(Date.UTC(1994, 10, 6, 8, 50, 7) / 1_000),
      },
    });

    assert.deepEqual(await bench.send(post()), { kind: 'later', afterMs: 30_000, account: true });
  });

  it('waits a minute where GitHub names no time, and by Retry-After where it does', async (t) => {
    const answers = [
      { status: 403, json: { message: 'You have exceeded a secondary rate limit.' } },
      { status: 429, json: { message: 'slow down' }, headers: { 'retry-after': '12' } },
      { status: 403, json: { message: 'You have triggered an abuse detection mechanism. Please wait a few minutes.' } },
      { status: 422, json: { message: 'Validation Failed', errors: [{ message: 'was submitted too quickly' }] } },
    ];
    const results: unknown[] = [];
    for (const answer of answers) {
      const { fake, bench } = await scene(t);
      fake.misbehave = () => answer;
      results.push(await bench.send(post()));
    }

    assert.deepEqual(results, [
      { kind: 'later', afterMs: 60_000, account: true },
      { kind: 'later', afterMs: 12_000 },
      { kind: 'later', afterMs: 60_000, account: true },
      { kind: 'later', afterMs: 60_000, account: true },
    ]);
  });

  it("refuses what GitHub refuses, with GitHub's reason; throws what nobody knows", async (t) => {
    const { fake, bench } = await scene(t);
    const locked = fake.data.subject(HELLO, 8);
    assert.ok(locked);
    locked.locked = true;

    const refusals = [
      await bench.send(post({ conversation: PULL })),
      await bench.send(post({ conversation: 'octo/hello#404' })),
      await bench.send(post({ text: 'x'.repeat(65_600) })),
      await bench.send(post({ conversation: HELLO })),
      await bench.send(post({ conversation: '../..#1' })),
      await bench.send({ kind: 'remove', key: 'k', conversation: ISSUE, message: 'body' }),
    ];
    fake.misbehave = () => ({ status: 502, json: { message: 'Server Error' } });

    for (const refusal of refusals) assert.equal(refusal.kind, 'refused');
    assert.match(JSON.stringify(refusals[0]), /issue is locked/);
    await assert.rejects(bench.send(post()), { message: /Server Error/ });
  });

  it('ends the account at a token that GitHub does not know, and tells it nowhere', async (t) => {
    const { bench } = await scene(t, { token: 'ghp-revoked' });

    await assert.rejects(bench.send(post()), { code: 'account_failed', remedy: /token/ });
    assert.doesNotMatch(JSON.stringify(bench.logs), /ghp-revoked/);
  });
});

describe('accounts of github', () => {
  it('fail with a remedy when they can never work', async (t) => {
    const { bench } = await scene(t, { secrets: ['short'] });

    await assert.rejects(bench.catchUp(), { code: 'account_failed', remedy: /openssl/ });
  });

  it('ask GitHub to repeat what failed since the last time, once, and store how far they looked', async (t) => {
    const { fake, bench } = await scene(t, { repositories: [HELLO] });
    const ours = {
      id: 1,
      repository: HELLO,
      events: [],
      active: true,
      config: { url: 'https://b.example/webhooks/bench' },
    };
    fake.data.hooks.push(ours, { ...ours, id: 2, config: { url: 'https://elsewhere.example/hook' } });
    const ago = (minutes: number): string => new Date(Date.now() - minutes * 60_000).toISOString();
    const delivery = (id: number, guid: string, status_code: number, delivered_at: string) =>
      ({ id, hook: 1, guid, status_code, delivered_at, event: 'issues' }) as const;
    fake.data.deliveries.push(
      delivery(10, 'too-old', 502, ago(4 * 24 * 60)),
      delivery(11, 'lost', 502, ago(30)),
      delivery(12, 'taken', 200, ago(29)),
      delivery(13, 'late', 0, ago(28)),
      delivery(14, 'taken-later', 504, ago(27)),
      delivery(15, 'taken-later', 200, ago(26)),
    );

    await bench.catchUp();

    assert.deepEqual(fake.data.redelivered, [11, 13]);
    assert.ok(Date.parse(bench.cursor ?? '') > Date.now() - 1_200_000);
    await bench.catchUp();
    assert.deepEqual(fake.data.redelivered, [11, 13]);
  });

  it('work on when the token may not see webhooks', async (t) => {
    const { fake, bench } = await scene(t, { repositories: [HELLO] });
    fake.misbehave = () => ({ status: 404, json: { message: 'Not Found' } });

    await bench.catchUp();

    assert.match(JSON.stringify(bench.logs), /allowed to see webhooks/);
    assert.notEqual(bench.cursor, undefined);
  });

  it('ask nothing more while the limit is spent', async (t) => {
    const { fake, bench } = await scene(t, { repositories: [HELLO] });
    fake.remaining = 0;

    await assert.rejects(bench.catchUp(), { message: /limit/ });
    await assert.rejects(bench.catchUp(), { message: /limit of this account is spent/ });

    assert.equal(fake.requests.length, 1);
  });

  it('fail by a token that GitHub does not know before the first send, also where no repository is named', async (t) => {
    const revoked = await scene(t, { token: 'ghp-revoked' });
    const good = await scene(t);

    await assert.rejects(revoked.bench.catchUp(), { code: 'account_failed', remedy: /token/ });
    await good.bench.catchUp();
  });

  it('fail where the token is of another login, who would be answered without end', async (t) => {
    for (const [login, token] of [
      ['helper-bot', 'ghp-ann'],
      ['helper-bot[bot]', 'ghp-bot'],
    ] as const) {
      const { bench } = await scene(t, { login, token, repositories: [HELLO] });
      await assert.rejects(bench.catchUp(), { code: 'account_failed', remedy: /login/ });
    }
    const app = await scene(t, { token: 'ghp-ann' });
    app.fake.misbehave = ({ path }) =>
      path === '/user' ? { status: 403, json: { message: 'Not by integration' } } : undefined;
    await assert.rejects(app.bench.catchUp(), { code: 'account_failed', remedy: /login/ });
    const { fake, bench } = await scene(t, { login: 'Helper-Bot' });
    await bench.catchUp();
    fake.misbehave = () => ({ status: 403, json: { message: 'Resource not accessible by integration' } });
    await bench.catchUp();
  });

  it('fail while they are suspended, with what to do', async (t) => {
    for (const message of ['This installation has been suspended', 'Sorry. Your account was suspended.']) {
      const { fake, bench } = await scene(t);
      fake.misbehave = () => ({ status: 403, json: { message } });

      await assert.rejects(bench.send(post()), { code: 'account_failed', remedy: /suspen/ });
      await assert.rejects(bench.catchUp(), { code: 'account_failed', remedy: /suspen/ });
    }
  });

  it('look again when GitHub could not be asked, and fail by a token that it does not know', async (t) => {
    const down = await scene(t, { repositories: [HELLO] });
    down.fake.misbehave = () => ({ status: 502, json: { message: 'Server Error' } });
    const revoked = await scene(t, { repositories: [HELLO], token: 'ghp-revoked' });

    await assert.rejects(down.bench.catchUp(), { message: /Server Error/ });
    await assert.rejects(revoked.bench.catchUp(), { code: 'account_failed', remedy: /token/ });
    assert.equal(down.bench.cursor, undefined);
  });
});

describe('sends of github to a repository that has moved', () => {
  // "You should repeat your request to the URL specified by the location header" (Best practices for using the REST API, Follow redirects).
  for (const status of [301, 307])
    it(`go where GitHub says, with ${status}, as what they were`, async (t) => {
      const { fake, bench } = await scene(t);
      fake.moved = { from: 'octo/former', to: HELLO, status };
      const of = { conversation: 'octo/former#7' } as const;

      const message = messageIn(await bench.send(post(of)));
      const again = await bench.send(post({ ...of, repeat: true }));
      const edited = await bench.send(post({ ...of, kind: 'edit', key: 'k2', message, text: 'hello again' }));
      const reacted = await bench.send({ kind: 'react', key: 'k3', ...of, message, emoji: '👍', on: true });

      assert.match(message, /^comment:\d+$/);
      assert.deepEqual([again, edited.kind, reacted.kind], [{ kind: 'sent', message }, 'sent', 'sent']);
      assert.deepEqual(fake.data.shown(HELLO, 7), ['hello again']);
      assert.equal(fake.data.reactions.length, 1);
    });

  it('do not go to another host: the token is for GitHub alone', async (t) => {
    const { fake, bench } = await scene(t);
    const other = await new FakeGithub({ 'ghp-bot': 'helper-bot' }).start(t);
    other.data.open(HELLO, 7);
    fake.misbehave = ({ path }) => ({ status: 307, headers: { location: other.url + path } });

    const result = await bench.send(post());

    assert.equal(result.kind, 'refused');
    assert.deepEqual(other.requests, []);
  });
});
