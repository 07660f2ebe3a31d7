// What the adapter sends, as the fake LINE shows it, and what it makes of every way to refuse.
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { line } from '../../../worker/adapters/line/index.ts';
import type { Outgoing, SendResult } from '../../../worker/sdk/index.ts';
import { adapterBench, type Bench } from '../../../worker/testing/adapter-suite/adapter-bench.ts';
import { ANN, BEN, GROUP } from '../../support/accounts/line-examples.ts';
import { FakeLine, type Misfortune } from '../../support/fake-platforms/line.ts';

const PUSH = 'POST /v2/bot/message/push';
const QUOTA = 'GET /v2/bot/message/quota';
const post = (more: Partial<Extract<Outgoing, { readonly kind: 'post' | 'edit' }>> = {}): Outgoing => ({
  kind: 'post',
  key: 'k',
  conversation: ANN,
  text: 'hello',
  buttons: [],
  files: [],
  ...more,
});

async function start(t: TestContext) {
  const platform = await FakeLine.start(t);
  const { url, token, secret } = platform;
  const account = { channelAccessToken: token, channelSecrets: [secret], apiUrl: url, dataApiUrl: url };
  const bench = adapterBench(line, account);
  t.after(() => bench.stop());
  return { platform, bench, account };
}
const sent = (result: SendResult): string =>
  result.kind === 'sent' ? (result.message ?? '') : `not sent: ${JSON.stringify(result)}`;
const reasonOf = (result: SendResult): string => (result.kind === 'refused' ? result.reason : result.kind);

/** As LINE delivers it, to the account on the bench. */
const hears = async (bench: Bench, platform: FakeLine, payload: object) => {
  const body = JSON.stringify(payload);
  const request = { method: 'POST', path: '', query: {}, headers: platform.signed(body), receivedAt: 1 };
  await bench.deliver({ ...request, body: Buffer.from(body) });
  const heard = bench.stored.at(-1);
  return heard?.kind === 'message' ? heard.message : '';
};

describe('line sends', () => {
  it('texts, mentions and buttons, each post in one push', async (t) => {
    const { platform, bench } = await start(t);
    platform.channel.groups.set(GROUP, [ANN, BEN]);
    platform.channel.names.set(BEN, 'Ben');
    const buttons = [{ label: 'Yes', token: 'tok-1' }];

    const id = sent(await bench.send(post({ text: 'sure?', buttons })));
    await bench.send(post({ key: 'k2', conversation: GROUP, text: `hi {${BEN}}, {{x}}` }));
    await bench.send(post({ key: 'k3', text: `hi {${BEN}}` }));

    const shown = platform.channel.messages;
    assert.deepEqual(
      shown.map(({ to, type, content }) => [to, type, content['text']]),
      [
        [ANN, 'text', 'sure?'],
        [ANN, 'flex', undefined],
        [GROUP, 'textV2', 'hi {m0}, {{x}}'],
        [ANN, 'text', 'hi @Ben'],
      ],
    );
    assert.equal(shown[0]?.id, id);
    assert.equal(platform.calls.filter(({ route }) => route === PUSH).length, 3);
  });

  it('replies as quotes, of what came and of what it said, and without one where the token is not known', async (t) => {
    const { platform, bench } = await start(t);

    const came = await hears(bench, platform, platform.says('question', { user: ANN }));
    const answer = sent(await bench.send(post({ key: 'k1', replyTo: came })));
    await bench.send(post({ key: 'k2', replyTo: answer }));
    await bench.send(post({ key: 'k3', replyTo: '1' }));
    const elsewhere = await hears(bench, platform, platform.says('there', { user: BEN }));
    await bench.send(post({ key: 'k4', replyTo: elsewhere }));

    const quotes = platform.channel.messages.map(({ content }) => content['quoteToken'] !== undefined);
    assert.deepEqual(quotes, [true, true, false, false]);
  });

  it('a mention of somebody who has left as a name', async (t) => {
    const { platform, bench } = await start(t);
    platform.channel.groups.set(GROUP, [ANN]);

    sent(await bench.send(post({ conversation: GROUP, text: `bye {${BEN}}` })));

    assert.deepEqual(
      platform.channel.messages.map(({ content }) => content['text']),
      [`bye @${BEN}`],
    );
  });

  it('once what may have been taken, and knows its id', async (t) => {
    const { platform, bench } = await start(t);

    platform.next(PUSH, 'drop');
    await assert.rejects(bench.send(post()), /push: /);
    const again = sent(await bench.send(post()));
    const other = sent(await bench.send(post({ key: 'k2' })));

    assert.deepEqual(
      platform.channel.messages.map(({ id }) => id),
      [again, other],
    );
    assert.match(JSON.stringify(bench.logs), /had accepted this message before/);
    const came = platform.channel.messages[0]?.id;
    await bench.send(post({ key: 'k3', ...(came === undefined ? {} : { replyTo: came }) }));
    assert.ok(platform.channel.messages[2]?.content['quoteToken'], 'also the token to quote it by is known');
  });

  it('a loading animation to people, nothing to groups', async (t) => {
    const { platform, bench } = await start(t);
    const typing = (conversation: string): Outgoing => ({ kind: 'typing', key: 'k', conversation });

    assert.deepEqual(await bench.send(typing(ANN)), { kind: 'sent' });
    assert.equal(reasonOf(await bench.send(typing(GROUP))), 'LINE shows no typing in groups');
    assert.deepEqual(platform.channel.loading, [ANN]);
  });

  it('pictures by their links, more than five messages in several pushes, each once', async (t) => {
    const { platform, account } = await start(t);
    const files = [1, 2, 3, 4, 5].map((n) => ({ id: `${n}`, name: `${n}.png`, mime: 'image/png', bytes: 9 }));
    const fileUrls = Object.fromEntries(files.map(({ id }) => [id, `https://bot.example/files/${id}`]));
    const bench = adapterBench(line, account, { fileUrls });
    t.after(() => bench.stop());

    for (const _ of ['once', 'and again']) await bench.send(post({ files }));

    const urls = platform.channel.messages.map(({ content }) => content['originalContentUrl'] ?? content['text']);
    assert.deepEqual(urls, ['hello', ...Object.values(fileUrls)]);
  });

  it('a link where LINE does not take the picture', async (t) => {
    const { platform, account } = await start(t);
    const bench = adapterBench(line, account, { fileUrls: { f: 'http://bot.example/files/f' } });
    t.after(() => bench.stop());

    await bench.send(post({ text: '', files: [{ id: 'f', name: 'a.png', mime: 'image/png', bytes: 9 }] }));

    assert.deepEqual(
      platform.channel.messages.map(({ content }) => content['text']),
      ['a.png (http://bot.example/files/f)'],
    );
  });

  it('nothing where LINE refuses or has no such thing, and says why', async (t) => {
    const { platform, bench } = await start(t);
    const file = { id: 'f', name: 'a.txt', mime: 'text/plain', bytes: 5 };
    const at = { key: 'k', conversation: ANN, message: '1' };

    assert.deepEqual(
      [
        reasonOf(await bench.send(post({ conversation: 'room' }))),
        reasonOf(await bench.send(post({ text: 'x'.repeat(5_001) }))),
        reasonOf(await bench.send(post({ files: [file] }))),
        reasonOf(await bench.send(post({ ...at, kind: 'edit' }))),
        reasonOf(await bench.send({ ...at, kind: 'remove' })),
        reasonOf(await bench.send({ ...at, kind: 'react', emoji: '👍', on: true })),
      ],
      [
        'this is not the id of a person, a group or a room of LINE',
        'LINE answered 400: The request body has 1 error(s); messages[0]/text: Length must be between 0 and 5000',
        'LINE fetches pictures from http.publicUrl, and has no link to a.txt',
        'a bot of LINE cannot change what it has said',
        'a bot of LINE cannot change what it has said',
        'LINE has no reactions of bots',
      ],
    );
    assert.equal(platform.channel.messages.length, 0);
  });

  it('later where too much was asked, no more calls until then; the quota of a month is a refusal', async (t) => {
    const { platform, bench } = await start(t);
    const limit = { status: 429, body: '{"message":"The API rate limit has been exceeded. Try again later."}' };

    platform.next(PUSH, limit);
    const first = await bench.send(post());
    const second = await bench.send(post({ key: 'k2' }));
    const typing = await bench.send({ kind: 'typing', key: 'k', conversation: ANN });

    assert.deepEqual(first, { kind: 'later', afterMs: 5_000, account: true });
    assert.ok(second.kind === 'later' && second.account && second.afterMs <= 5_000, JSON.stringify(second));
    assert.equal(typing.kind, 'sent', 'another endpoint of the API has a limit of its own');
    assert.equal(platform.calls.filter(({ route }) => route === PUSH).length, 1);

    const { platform: spent, bench: poor } = await start(t);
    spent.channel.quota = 0;
    assert.match(reasonOf(await poor.send(post())), /monthly limit[^]*quota of this month/);
  });

  it('later by one wait for all that were refused at once, and twice that for the next', async (t) => {
    const { platform, bench } = await start(t);
    const limit = { status: 429, body: '{"message":"The API rate limit has been exceeded. Try again later."}' };
    for (let n = 0; n < 8; n += 1) platform.next(PUSH, limit);

    const refused = await Promise.all(Array.from({ length: 8 }, (_, n) => bench.send(post({ key: `k${n}` }))));

    for (const result of refused) assert.ok(result.kind === 'later' && result.afterMs <= 5_000, JSON.stringify(result));
  });

  it('later where the quota is held for a delivery to many, and is not used up', async (t) => {
    const { platform, bench } = await start(t);
    platform.channel.quota = 40;
    const held = { status: 429, body: '{"message":"You have reached your monthly limit."}' };
    platform.next(PUSH, held);
    platform.next(PUSH, held);

    assert.deepEqual(await bench.send(post()), { kind: 'later', afterMs: 60_000 });
    assert.match(reasonOf(await bench.send(post({ key: 'k2', conversation: GROUP }))), /monthly limit/, 'too large');
    sent(await bench.send(post()));
    assert.equal(platform.channel.messages.length, 1);
  });

  it('asks for the quota once a minute, however many are refused, and tries each of them', async (t) => {
    const { platform, bench } = await start(t);
    platform.channel.quota = 0;
    const asked = (of: string): number => platform.calls.filter(({ route }) => route === of).length;

    await Promise.all([1, 2, 3].map((n) => bench.send(post({ key: `k${n}` }))));
    await bench.send(post({ key: 'k4' }));

    assert.deepEqual([asked(PUSH), asked(QUOTA), asked(`${QUOTA}/consumption`)], [4, 1, 1]);
    platform.channel.quota = 1;
    sent(await bench.send(post({ key: 'k5' })));
  });

  it('throws where it may have happened, and ends the account for a token alone', async (t) => {
    const { platform, bench } = await start(t);
    const after = async (misfortune: Misfortune) => {
      platform.next(PUSH, misfortune);
      return bench.send(post());
    };
    const json = (message: string): string => JSON.stringify({ message });

    for (const misfortune of [
      { status: 500, body: json('Internal error') },
      { status: 503 },
      { status: 409, body: json('conflict') },
      { status: 200, body: '<html>' },
    ])
      await assert.rejects(after(misfortune), (error: { readonly code?: unknown }) => error.code !== 'account_failed');
    assert.deepEqual(await after({ status: 403, body: json('Access to this API is not available for your account') }), {
      kind: 'refused',
      reason: 'LINE answered 403: Access to this API is not available for your account',
    });
    await assert.rejects(after({ status: 401, body: json('invalid token') }), {
      code: 'account_failed',
      remedy: /token/,
    });
    assert.equal(platform.channel.messages.length, 0);
  });
});
