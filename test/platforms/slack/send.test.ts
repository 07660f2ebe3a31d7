// What the adapter sends, as the fake Slack shows it, and what it makes of every way to refuse.
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { slack } from '../../../worker/adapters/slack/index.ts';
import { readAdapter } from '../../../worker/sdk/definition.ts';
import type { FileRef, Outgoing, SendResult } from '../../../worker/sdk/index.ts';
import { adapterBench, type Bench } from '../../../worker/testing/adapter-suite/adapter-bench.ts';
import { adapterLink } from '../../support/accounts/adapter-link.ts';
import { FakeSlack, type Misfortune } from '../../support/fake-platforms/slack.ts';

const ROOM = 'C123ABC456';
const FILE: FileRef = { id: 'f', name: 'a b.txt', mime: 'text/plain', bytes: 5 };
const post = (more: Partial<Extract<Outgoing, { readonly kind: 'post' | 'edit' }>> = {}): Outgoing => ({
  kind: 'post',
  key: 'k',
  conversation: ROOM,
  text: 'hello',
  buttons: [],
  files: [],
  ...more,
});
const secret = 'a-signing-secret-of-slack';

async function start(
  t: TestContext,
  more: object = {},
): Promise<{ readonly platform: FakeSlack; readonly bench: Bench }> {
  const platform = await FakeSlack.start(t);
  const account = { token: platform.botToken, secrets: [secret], apiUrl: platform.apiUrl, ...more };
  const bench = adapterBench(slack, account, { files: { f: Buffer.from('bytes') } });
  t.after(() => bench.stop());
  return { platform, bench };
}
const sent = (result: SendResult): string =>
  result.kind === 'sent' ? (result.message ?? '') : `not sent: ${JSON.stringify(result)}`;

describe('slack sends', () => {
  it('messages, replies in threads, edits, reactions and removals', async (t) => {
    const { platform, bench } = await start(t);

    const message = sent(await bench.send(post({ text: '*hi*' })));
    const reply = sent(await bench.send(post({ text: 'in thread', replyTo: message })));
    await bench.send(post({ text: 'deeper', thread: message, replyTo: reply }));
    const change = { key: 'k', conversation: ROOM, message };
    await bench.send(post({ kind: 'edit', message, text: 'new' }));
    for (const on of [true, true]) await bench.send({ ...change, kind: 'react', emoji: '👍', on });
    await bench.send({ ...change, message: reply, kind: 'remove' });
    const gone = await bench.send({ ...change, message: reply, kind: 'remove' });

    assert.deepEqual(
      platform.workspace.messages.map(({ text, thread, reactions, isEdited }) => ({
        text,
        thread,
        reactions,
        isEdited,
      })),
      [
        { text: 'new', thread: undefined, reactions: ['+1'], isEdited: true },
        { text: 'deeper', thread: message, reactions: [], isEdited: false },
      ],
    );
    assert.equal(gone.kind, 'sent');
  });

  it('buttons as blocks, and takes them away with an edit', async (t) => {
    const { platform, bench } = await start(t);
    const button = { label: 'Yes', token: 'tok-1', style: 'primary' } as const;

    const message = sent(await bench.send(post({ text: 'sure?', buttons: [button] })));
    const [asked] = platform.workspace.messages;
    await bench.send(post({ kind: 'edit', message, text: 'done' }));
    const [done] = platform.workspace.messages;

    assert.match(JSON.stringify(asked?.blocks), /"value":"tok-1"/);
    assert.deepEqual([asked?.text, done?.text, done?.blocks], ['sure?', 'done', []]);
  });

  it('to a person in private, and changes what it said there', async (t) => {
    const { platform, bench } = await start(t);

    const message = sent(await bench.send(post({ conversation: 'U061F7AUR' })));
    await bench.send(post({ kind: 'edit', conversation: 'U061F7AUR', message, text: 'changed' }));
    await bench.send({ kind: 'react', key: 'k', conversation: 'U061F7AUR', message, emoji: '👀', on: true });

    const [shown] = platform.workspace.messages;
    assert.deepEqual([shown?.channel, shown?.text, shown?.reactions], ['D061F7AUR', 'changed', ['eyes']]);
  });

  it('for one person alone in a channel, without a name to change it by', async (t) => {
    const { platform, bench } = await start(t);

    const result = await bench.send(post({ only: 'U061F7AUR', thread: '1.2' }));

    assert.deepEqual(result, { kind: 'sent' });
    assert.deepEqual(
      platform.workspace.messages.map(({ only, thread }) => [only, thread]),
      [['U061F7AUR', '1.2']],
    );
    assert.equal((await bench.send(post({ only: 'U061F7AUR', files: [FILE] }))).kind, 'refused');
  });

  it('files in one message with its text, in a channel, a thread and in private', async (t) => {
    const { platform, bench } = await start(t);

    const message = sent(await bench.send(post({ text: 'see', files: [FILE, FILE], thread: '1.2' })));
    await bench.send(post({ conversation: 'U061F7AUR', text: '', files: [FILE] }));
    const [first, second] = platform.workspace.messages;

    assert.deepEqual([first?.ts, first?.text, first?.thread, first?.files.length], [message, 'see', '1.2', 2]);
    assert.equal(second?.channel, 'D061F7AUR');
    assert.deepEqual(
      [...platform.workspace.files.values()].map(({ name, bytes }) => [name, String(bytes)]),
      [1, 2, 3].map(() => ['a b.txt', 'bytes']),
    );
  });

  it('nothing where Slack refuses, and says why', async (t) => {
    const { bench } = await start(t);
    const reason = async (call: Outgoing) => {
      const result = await bench.send(call);
      return result.kind === 'refused' ? result.reason : result.kind;
    };

    assert.deepEqual(
      [
        await reason(post({ conversation: 'C0NOWHERE' })),
        await reason(post({ conversation: 'C0ARCHIVED' })),
        await reason(post({ conversation: 'C0FOREIGN' })),
        await reason(post({ kind: 'edit', message: '9.9' })),
        await reason({ kind: 'typing', key: 'k', conversation: ROOM }),
        await reason({ kind: 'react', key: 'k', conversation: ROOM, message: '9.9', emoji: '🫥', on: true }),
      ],
      [
        'Slack: channel_not_found: there is none of this id, or it is private and the bot is not in it',
        'Slack: is_archived',
        'Slack: not_in_channel: invite the bot, or give the app the scope chat:write.public',
        'Slack: message_not_found',
        'Slack shows no typing of apps',
        'no name of Slack is known for 🫥: write it as :name:',
      ],
    );
  });

  it('later for all of the account where it is the limit of messages, of reactions for that one alone', async (t) => {
    const { platform, bench } = await start(t);
    const message = sent(await bench.send(post()));
    const later = { status: 429, headers: { 'retry-after': '30' } };
    const methods = ['chat.update', 'chat.delete', 'chat.postEphemeral', 'files.getUploadURLExternal', 'reactions.add'];
    for (const method of [...methods, 'files.completeUploadExternal']) platform.next(method, later);

    const change = { key: 'k', conversation: ROOM, message };
    const results = [
      await bench.send(post({ kind: 'edit', message, text: 'new' })),
      await bench.send({ ...change, kind: 'remove' }),
      await bench.send(post({ only: 'U123ABC456' })),
      await bench.send(post({ files: [FILE] })),
      await bench.send(post({ files: [FILE] })),
      await bench.send({ ...change, kind: 'react', emoji: '👍', on: true }),
    ];

    const held = { kind: 'later', afterMs: 30_000, account: true };
    assert.deepEqual(results, [held, held, held, held, held, { kind: 'later', afterMs: 30_000 }]);
  });

  it('later as Slack asks, once each call, and throws where it may have happened', async (t) => {
    const { platform, bench } = await start(t);
    const json = (body: object): Misfortune => ({
      status: 200,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const after = async (misfortune: Misfortune) => {
      platform.next('chat.postMessage', misfortune);
      return bench.send(post());
    };

    assert.deepEqual(await after({ status: 429, headers: { 'retry-after': '30' } }), {
      kind: 'later',
      afterMs: 30_000,
      account: true,
    });
    const fiveSeconds = { kind: 'later', afterMs: 5_000, account: true };
    assert.deepEqual(await after({ status: 429 }), fiveSeconds);
    assert.deepEqual(await after(json({ ok: false, error: 'ratelimited' })), fiveSeconds);
    assert.deepEqual(await after(json({ ok: false, error: 'missing_scope', needed: 'chat:write' })), {
      kind: 'refused',
      reason: 'Slack: missing_scope: the app needs the scope chat:write',
    });
    for (const misfortune of [
      'drop',
      { status: 503 },
      json({ ok: false, error: 'internal_error' }),
      json({ ok: false, error: 'org_login_required' }), // until the workspace has moved to its organisation
      { status: 200, body: '<html>' },
    ] as const)
      await assert.rejects(after(misfortune), (error: { readonly code?: unknown }) => error.code !== 'account_failed');
    for (const error of [
      'invalid_auth',
      'token_revoked',
      'account_inactive',
      'team_disabled',
      'user_removed_from_team',
    ])
      await assert.rejects(after(json({ ok: false, error })), { code: 'account_failed', remedy: /token/ });
    assert.equal(platform.calls.length, 14, 'no call is made again by itself');
    assert.equal(platform.workspace.messages.length, 1, 'the dropped one was taken');
  });
});

describe('slack sends again', () => {
  it('what may have been taken only when it is not there: in a channel, a thread and in private', async (t) => {
    const { platform, bench } = await start(t);

    for (const place of [{}, { thread: '1.2' }, { conversation: 'U061F7AUR' }]) {
      const call = post({ ...place, text: JSON.stringify(place) });
      platform.next('chat.postMessage', 'drop');
      await assert.rejects(bench.send({ ...call, key: 'k1' }));
      const again = sent(await bench.send({ ...call, key: 'k1', repeat: true }));
      const other = sent(await bench.send({ ...call, key: 'k2', repeat: true }));
      assert.notEqual(again, other);
    }

    assert.equal(platform.workspace.messages.length, 6);
  });

  const FIRST_AT = 1_700_000_000; // seconds, of the fake's clock
  const said = (
    platform: FakeSlack,
    count: number,
    { from, thread }: { readonly from: number; readonly thread?: string },
  ): void => {
    for (let n = 0; n < count; n += 1) {
      const ts = `${from}.${String(n).padStart(6, '0')}`;
      platform.workspace.said.push({
        type: 'message',
        user: 'U1',
        text: String(n),
        ts,
        thread_ts: thread,
        channel: ROOM,
      });
    }
  };
  const looks = (platform: FakeSlack): number =>
    platform.calls.filter(({ method }) => method.startsWith('conversations.')).length;

  it('only when it is not there, however much was said in the thread before and in the channel since', async (t) => {
    const { platform, bench } = await start(t);
    const root = `${FIRST_AT - 7_200}.000000`;
    said(platform, 1, { from: FIRST_AT - 7_200 });
    said(platform, 450, { from: FIRST_AT - 3_600, thread: root });
    said(platform, 250, { from: FIRST_AT - 60, thread: root });
    said(platform, 450, { from: FIRST_AT + 3_600 });

    for (const place of [{ thread: root }, {}]) {
      const call = post({ ...place, key: JSON.stringify(place) });
      platform.next('chat.postMessage', 'drop');
      await assert.rejects(bench.send(call));
      await bench.send({ ...call, repeat: true, search: { from: FIRST_AT * 1_000, others: [] } });
    }

    assert.equal(platform.workspace.messages.length, 2);
    assert.equal(looks(platform), 2 + 3);
  });

  it('and does not look where it cannot be', async (t) => {
    const { platform, bench } = await start(t);
    said(platform, 450, { from: FIRST_AT - 3_600 });

    await bench.send({ ...post(), repeat: true, search: { from: FIRST_AT * 1_000, others: [] } });

    assert.equal(looks(platform), 1);
  });

  it('and goes on looking where Slack asked to wait', async (t) => {
    const { platform, bench } = await start(t);
    platform.next('chat.postMessage', 'drop');
    await assert.rejects(bench.send(post()));
    said(platform, 40, { from: FIRST_AT + 3_600 });
    platform.workspace.mostHistory = 15;
    const again = () => bench.send({ ...post(), repeat: true, search: { from: FIRST_AT * 1_000, others: [] } });

    const results: string[] = [];
    for (let attempt = 0; attempt < 3; attempt += 1) {
      platform.left.set('conversations.history', 1); // as apps outside of the Marketplace have it
      results.push((await again()).kind);
    }

    assert.deepEqual(results, ['later', 'later', 'sent']);
    assert.equal(platform.workspace.messages.length, 1);
  });

  it('when the app may not look, and later when Slack asks to wait', async (t) => {
    const { platform, bench } = await start(t);
    const error = (name: string): Misfortune => ({ status: 200, body: JSON.stringify({ ok: false, error: name }) });

    platform.next('conversations.history', error('missing_scope'));
    assert.equal((await bench.send({ ...post(), repeat: true })).kind, 'sent');
    platform.next('conversations.history', { status: 429, headers: { 'retry-after': '9' } });
    assert.deepEqual(await bench.send({ ...post(), repeat: true }), { kind: 'later', afterMs: 9_000 });

    assert.equal(platform.workspace.messages.length, 1);
  });
});

describe('slack fetches files', () => {
  it('with the token, and from the platform alone', async (t) => {
    const platform = await FakeSlack.start(t);
    const definition = readAdapter(slack);
    const account = { token: { reveal: () => platform.botToken }, secrets: [], mode: 'http', apiUrl: platform.apiUrl };
    const link = adapterLink(account);
    t.after(() => link.stop());
    platform.workspace.files.set('F1', { id: 'F1', name: 'a.txt', bytes: Buffer.from('the bytes') });
    const fetched = async (file: FileRef) => {
      const stream = await definition.fetchFile?.(file, link);
      return new Response(stream).text();
    };

    assert.equal(await fetched({ ...FILE, id: 'F1' }), 'the bytes');
    await assert.rejects(fetched({ ...FILE, id: 'F9' }), /file_not_found/);
    const elsewhere = { ok: true, file: { url_private: 'https://files.slack.com.evil.example/x' } };
    platform.next('files.info', { status: 200, body: JSON.stringify(elsewhere) });
    await assert.rejects(fetched({ ...FILE, id: 'F1' }), /does not lie on Slack/);
  });
});
