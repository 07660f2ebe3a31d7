import assert from 'node:assert/strict';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { send } from '../../../../worker/adapters/webhook/send.ts';
import { renderMarkdown } from '../../../../worker/adapters/webhook/text.ts';
import { verify } from '../../../../worker/adapters/webhook/verify.ts';
import { type FileRef, md, mention, type Outgoing, type Secret } from '../../../../worker/sdk/index.ts';

const secretOf = (text: string): Secret => ({ reveal: () => text });
const ONE = `whsec_${Buffer.alloc(32, 1).toString('base64')}`;
const TWO = `whsec_${Buffer.alloc(32, 2).toString('base64')}`;
const post: Outgoing = {
  kind: 'post',
  key: 'k-1',
  conversation: 'room-1',
  text: 'Grüße',
  buttons: [{ label: 'Yes', token: 't' }],
  files: [],
};

interface Received {
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}
interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}
async function receiver(
  t: TestContext,
  answer: Answer,
): Promise<{ readonly url: string; readonly received: readonly Received[] }> {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      received.push({ headers: request.headers, body: Buffer.concat(chunks) });
      response.writeHead(answer.status, answer.headers).end(answer.body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/bot`, received };
}
const link = (url: string | undefined, outgoingSecrets?: readonly Secret[]) => ({
  account: {
    secrets: [secretOf(ONE)],
    ...(url === undefined ? {} : { url }),
    ...(outgoingSecrets === undefined ? {} : { outgoingSecrets: [...outgoingSecrets] }),
  },
  signal: new AbortController().signal,
  fileUrl: ({ id }: FileRef) => (id === 'gone' ? undefined : `https://bot.example/files/${id}`),
});

describe('send (webhook)', () => {
  it('posts once, signed so that another implementation and our own take it, with the key as webhook-id', async (t) => {
    const { url, received } = await receiver(t, { status: 200, body: '{"id":"m-9"}' });

    const result = await send(post, link(url));

    const [request] = received;
    assert.ok(request);
    assert.deepEqual(result, { kind: 'sent', message: 'm-9' });
    const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
    const body = new Webhook(ONE).verify(request.body.toString(), headers) as Record<string, unknown>;
    assert.deepEqual(
      [body['type'], body['text'], body['conversation'], body['buttons'], headers['webhook-id']],
      ['post', 'Grüße', 'room-1', [{ label: 'Yes', token: 't' }], 'k-1'],
    );
    const raw = { method: 'POST', path: '', query: {}, headers, body: request.body, receivedAt: Date.now() };
    assert.equal(verify(raw, { secrets: [secretOf(ONE)] }).kind, 'ok');
  });

  it('names who is mentioned beside the text, as it stands there, and nobody by what is written', async (t) => {
    const { url, received } = await receiver(t, { status: 204 });
    const person = mention({ endpoint: 'e', id: 'ann_b*' });
    const rich = md`**hi** ${person}, ${mention('everyone')} and ${person}: ${'\u2063-\u2063 @bob'}`;

    await send({ ...post, text: renderMarkdown(rich) }, link(url));

    const { text, mentions } = JSON.parse(received[0]?.body.toString() ?? '') as Record<string, unknown>;
    assert.equal(text, '**hi** @ann\\_b\\*, @everyone and @ann\\_b\\*: - @bob');
    assert.deepEqual(mentions, [
      { text: '@ann\\_b\\*', user: 'ann_b*' },
      { text: '@everyone', user: 'everyone' },
    ]);
  });

  it('names nobody by an address that is linked, nor by what an older version stored', async (t) => {
    const { url, received } = await receiver(t, { status: 204 });
    const segments = [{ kind: 'link', text: 'x', url: 'https://a.b/\u2063-\u2063?\u2063616e6e\u2063' }] as const;

    await send({ ...post, text: renderMarkdown({ segments }) }, link(url));
    await send({ ...post, text: 'a \u2063b\u2063 c\u2063' }, link(url));

    const bodies = received.map(({ body }) => JSON.parse(body.toString()) as Record<string, unknown>);
    assert.deepEqual(
      bodies.map(({ text, mentions }) => [text, mentions]),
      [
        ['[x](https://a.b/-?616e6e)', undefined],
        ['a \u2063b\u2063 c\u2063', undefined],
      ],
    );
  });

  it('sends files as signed links, and refuses one to which there is none', async (t) => {
    const { url, received } = await receiver(t, { status: 204 });
    const file = (id: string): FileRef => ({ id, name: 'a.png', mime: 'image/png', bytes: 7 });

    const results = [
      (await send({ ...post, files: [file('f1')] }, link(url))).kind,
      (await send({ ...post, files: [file('gone')] }, link(url))).kind,
    ];

    assert.deepEqual(results, ['sent', 'refused']);
    const { files } = JSON.parse(received[0]?.body.toString() ?? '') as Record<string, unknown>;
    assert.deepEqual(files, [{ name: 'a.png', mime: 'image/png', bytes: 7, url: 'https://bot.example/files/f1' }]);
    assert.equal(received.length, 1);
  });

  it('signs with each outgoing secret, so that the receiver may change over', async (t) => {
    const { url, received } = await receiver(t, { status: 204 });

    const result = await send(post, link(url, [secretOf(ONE), secretOf(TWO)]));

    const headers = Object.fromEntries(
      Object.entries(received[0]?.headers ?? {}).map(([name, value]) => [name, String(value)]),
    );
    assert.deepEqual(result, { kind: 'sent', message: 'k-1' });
    for (const secret of [ONE, TWO])
      assert.doesNotThrow(() => new Webhook(secret).verify(received[0]?.body.toString() ?? '', headers));
  });

  it('comes back when the receiver says so, and never follows a redirect', async (t) => {
    const busy = await receiver(t, { status: 429, headers: { 'retry-after': '7' } });
    const broken = await receiver(t, { status: 500 });
    const moved = await receiver(t, { status: 302, headers: { location: busy.url } });

    const results = [
      await send(post, link(busy.url)),
      (await send(post, link(broken.url))).kind,
      (await send(post, link(moved.url))).kind,
    ];

    assert.deepEqual(results, [{ kind: 'later', afterMs: 7_000, account: true }, 'later', 'refused']);
    assert.equal(busy.received.length, 1);
  });

  it('fails the account when the receiver does not know it, and throws when nobody answers', async (t) => {
    const refusing = await receiver(t, { status: 401 });

    await assert.rejects(send(post, link(refusing.url)), { code: 'account_failed' });
    await assert.rejects(send(post, link('http://127.0.0.1:1/')));
    assert.equal((await send(post, link(undefined))).kind, 'refused');
  });

  it('fails the account when the receiver wants no more messages, and says how to go on', async (t) => {
    const gone = await receiver(t, { status: 410 });

    await assert.rejects(send(post, link(gone.url)), {
      code: 'account_failed',
      message: /no more messages \(410\)/,
      remedy: /svc endpoints reconnect/,
    });
  });
});
