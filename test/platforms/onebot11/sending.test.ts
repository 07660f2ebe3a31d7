// What the adapter onebot11 sends, over the fake implementation: messages, files, removals, reactions, and what becomes of refusals.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import { secret } from '../../../worker/sdk/secret.ts';
import { type BenchOptions, onebotBench } from '../../support/accounts/onebot11-bench.ts';
import { failed } from '../../support/fake-platforms/onebot11/bot.ts';
import { until } from '../../support/until.ts';

const file = (id: string, mime: string) => ({ id, name: `${id}.x`, mime, bytes: 3 });

async function sending(t: TestContext, options: BenchOptions = {}) {
  const bench = await onebotBench(t, { files: { a: 'AAA', b: 'BBB', c: 'CCC' }, ...options });
  const connection = bench.open();
  await until(() => connection.link.isOnline, { what: 'the account to be online' });
  const send = (call: Parameters<typeof bench.send>[1]) => bench.send(connection, call);
  const fetched = async (id: string): Promise<string> => {
    const stream = await bench.adapter.fetchFile?.({ ...file('f', 'image/png'), id }, connection.link);
    return new Response(stream).text();
  };
  return { ...bench, connection, send, fetched };
}

for (const mode of ['forward', 'http'] as const)
  describe(`sending of OneBot (${mode})`, () => {
    const change = { mode, secrets: [secret('s')] };

    it('says text with mentions and an answer in a group, and with names in private', async (t) => {
      const { fake, send } = await sending(t, { change });

      const sent = await send({ kind: 'post', text: 'a &#91;b&#93; [CQ:at,qq=5] c', replyTo: '3' });
      await send({ kind: 'post', key: 'k2', text: 'to [CQ:at,qq=5]', conversation: 'private:5' });
      await send({ kind: 'post', key: 'k3', text: 'through', conversation: 'temp:7:6' });

      const [group, friend, stranger] = fake.bot.messages;
      assert.deepEqual(sent, { kind: 'sent', message: String(group?.message_id) });
      assert.deepEqual(group?.message, [
        { type: 'reply', data: { id: '3' } },
        { type: 'text', data: { text: 'a [b] ' } },
        { type: 'at', data: { qq: '5' } },
        { type: 'text', data: { text: ' c' } },
      ]);
      assert.deepEqual([friend?.peer, friend?.message.map(({ data }) => data['text']).join('')], [5, 'to @5']);
      assert.deepEqual([stranger?.peer, fake.called('send_private_msg')[1]?.['group_id']], [6, 7]);
    });

    it('says a picture with its text, and other files as messages of their own, else as uploads', async (t) => {
      const { fake, send } = await sending(t, { change });
      const files = [file('a', 'image/png'), file('b', 'text/plain'), file('c', 'video/mp4')];

      const sent = await send({ kind: 'post', text: 'see', files });
      fake.bot.without.add('file segment');
      await send({ kind: 'post', key: 'k2', files: [file('b', 'text/plain')] });
      await send({ kind: 'post', key: 'k3', files: [file('b', 'text/plain')], conversation: 'private:5' });
      fake.bot.without.add('upload_private_file');
      const refused = await send({
        kind: 'post',
        key: 'k4',
        files: [file('b', 'text/plain')],
        conversation: 'private:5',
      });

      assert.deepEqual(
        fake.bot.messages.map(({ message }) =>
          message.map(({ type, data }) => `${type} ${String(data['text'] ?? data['file'])}`),
        ),
        [['text see', 'image base64://QUFB'], ['file base64://QkJC'], ['video base64://Q0ND']],
      );
      assert.deepEqual(sent, { kind: 'sent', message: fake.bot.messages.map((one) => one.message_id).join() });
      assert.deepEqual(
        fake.bot.uploads.map(({ to, name, bytes }) => [to, name, bytes.toString()]),
        [
          ['group:7', 'b.x', 'BBB'],
          ['private:5', 'b.x', 'BBB'],
        ],
      );
      assert.equal(refused.kind, 'refused');
    });

    it('holds no more in memory than one large file: pictures that are more go in messages behind it', async (t) => {
      const { fake, send } = await sending(t, { change });
      const picture = (id: string, bytes: number) => ({ ...file(id, 'image/png'), bytes });

      const sent = await send({
        kind: 'post',
        text: 'see',
        files: [picture('a', 20_000_000), picture('b', 10_000_000), picture('c', 1)],
      });

      const [first, second, ...others] = fake.bot.messages;
      assert.deepEqual(sent, { kind: 'sent', message: `${first?.message_id},${second?.message_id}` });
      assert.equal(
        (await send({ kind: 'react', message: (sent as { message: string }).message, emoji: 'face:76', on: true }))
          .kind,
        'sent',
      );
      assert.deepEqual([first?.reactions, second?.reactions], [['76'], []]);
      assert.deepEqual(
        [first, second].map((one) => one?.message.map(({ type }) => type)),
        [['text', 'image', 'image'], ['image']],
      );
      assert.equal(others.length, 0);
      assert.equal((await send({ kind: 'remove', message: (sent as { message: string }).message })).kind, 'sent');
      assert.equal(fake.bot.messages.length, 0, 'all of it is removed');
    });

    it('gives links where the account says so, and the bytes where those are refused', async (t) => {
      const { fake, send } = await sending(t, { change: { ...change, files: 'link' } });

      await send({ kind: 'post', text: 'see', files: [file('a', 'image/png'), file('b', 'text/plain')] });
      fake.bot.without.add('file segment');
      const sent = await send({ kind: 'post', key: 'k2', files: [file('b', 'text/plain')] });

      assert.deepEqual(
        fake.bot.messages.map(({ message }) => message.map(({ data }) => data['file'] ?? data['text'])),
        [['see', 'https://bot.example/files/a'], ['https://bot.example/files/b']],
      );
      assert.equal(sent.kind, 'sent');
      assert.deepEqual(
        fake.bot.uploads.map(({ bytes }) => bytes.toString()),
        ['BBB'],
      );
    });

    it('removes and reacts, and counts what is gone as removed', async (t) => {
      const { fake, send } = await sending(t, { change });
      const { message = '' } = (await send({ kind: 'post', text: 'x' })) as { readonly message?: string };

      await send({ kind: 'react', message, emoji: '👍', on: true });
      await send({ kind: 'react', message, emoji: 'face:76', on: true });
      await send({ kind: 'react', message, emoji: '👍', on: false });
      fake.bot.without.add('set_msg_emoji_like');
      await send({ kind: 'react', message, emoji: '👍', on: true });
      assert.deepEqual(fake.bot.messages[0]?.reactions, ['76', '128077'], 'the last as Lagrange has it');
      fake.bot.without.clear();
      const results = [
        await send({ kind: 'remove', message }),
        await send({ kind: 'remove', message }),
        await send({ kind: 'react', message, emoji: '+1', on: true }),
        await send({ kind: 'react', message, emoji: '👍', on: true }),
        await send({ kind: 'edit', message, text: 'x' }),
        await send({ kind: 'typing' }),
        await send({ kind: 'post', text: 'x', conversation: '#room' }),
      ];

      assert.deepEqual(
        results.map(({ kind }) => kind),
        ['sent', 'sent', 'refused', 'refused', 'refused', 'refused', 'refused'],
      );
      assert.deepEqual(fake.bot.messages, []);
    });

    it('reacts as Lagrange has it, however an implementation says that it has no other way', async (t) => {
      const { fake, send } = await sending(t, { change });
      const { message = '' } = (await send({ kind: 'post', text: 'x' })) as { readonly message?: string };
      fake.bot.without.add('set_msg_emoji_like');
      const ways: readonly (typeof fake.bot.missing)[] = [
        () => ({ status: 'failed', retcode: 404, data: null }), // Lagrange
        () => failed(404, 'API_NOT_FOUND'), // go-cqhttp
        (action) => failed(200, `不支持的Api ${action}`), // NapCat over HTTP
      ];

      for (const way of ways) {
        fake.bot.missing = way;
        assert.deepEqual(await send({ kind: 'react', message, emoji: '👍', on: true }), { kind: 'sent' });
      }

      assert.deepEqual(fake.bot.messages[0]?.reactions, ['128077', '128077', '128077']);
    });

    it('takes a reaction back where that is a call of its own (LLOneBot)', async (t) => {
      const { fake, send } = await sending(t, { change });
      const { message = '' } = (await send({ kind: 'post', text: 'x' })) as { readonly message?: string };
      fake.bot.isLikeOneWay = true;

      await send({ kind: 'react', message, emoji: '👍', on: true });
      await send({ kind: 'react', message, emoji: '👍', on: false });

      assert.deepEqual(fake.bot.messages[0]?.reactions, []);
    });

    it('refuses what the implementation refuses or does not have, and throws where nobody knows', async (t) => {
      const { fake, send } = await sending(t, { change });
      for (const action of ['set_msg_emoji_like', 'set_group_reaction']) fake.bot.without.add(action);

      assert.deepEqual(await send({ kind: 'react', message: '1', emoji: '👍', on: true }), {
        kind: 'refused',
        reason: 'the implementation has no set_group_reaction',
      });
      fake.next('send_group_msg', { status: 'failed', retcode: 1200, data: null, message: '禁言中' });
      assert.deepEqual(await send({ kind: 'post', text: 'x' }), { kind: 'refused', reason: 'send_group_msg: 禁言中' });
      fake.next('send_group_msg', { status: 'async', retcode: 1, data: null });
      assert.deepEqual(await send({ kind: 'post', text: 'x' }), { kind: 'sent' }, 'its id is not told');
      // Lagrange, of a reaction that QQ did not take.
      fake.next('set_msg_emoji_like', { status: 'failed', retcode: 1, data: null });
      assert.equal((await send({ kind: 'react', message: '1', emoji: '👍', on: true })).kind, 'refused');
      fake.next('send_group_msg', 'drop');
      await assert.rejects(
        send({ kind: 'post', text: 'lost' }),
        ({ code }: { readonly code?: string }) => code !== 'endpoint_unavailable',
      );
      assert.deepEqual(fake.bot.texts(), ['lost'], 'it may have been done');
    });

    it('goes on where a post of several messages stopped', async (t) => {
      const { fake, send, adapter, connection } = await sending(t, { change });
      const post = { kind: 'post', key: 'k9', text: 'see', files: [file('b', 'text/plain')] } as const;
      const timeout = { status: 'failed', retcode: 1200, data: null, message: 'Timeout' } as const;
      fake.next('send_group_msg', { status: 'ok', retcode: 0, data: { message_id: 77 } }, timeout);

      await assert.rejects(send(post));
      // As a reload over HTTP makes it: another account of the same. Over a WebSocket the connection is the account's.
      const { link } = connection;
      const reloaded = mode === 'http' ? Object.assign(Object.create(link), { account: { ...link.account } }) : link;
      const whole = { conversation: 'group:7', buttons: [], ...post };
      const sent = await adapter.send(whole, reloaded);

      assert.deepEqual(sent, { kind: 'sent', message: '77,1001' });
      assert.deepEqual(fake.bot.texts(), ['[file]']);
    });
  });

describe('files of OneBot that came', () => {
  it('are fetched by their address, by a fresh one, or out of the answer, and never by a path', async (t) => {
    const { fake, fetched } = await sending(t);
    const address = fake.serve('/img.png', Buffer.from('picture'));
    const path = '/etc/hostname';
    fake.bot.files.set('fresh', { path, name: 'x', url: address });
    fake.bot.files.set('inline', { path, name: 'x', base64: Buffer.from('voice').toString('base64') });
    fake.bot.files.set('path', { path, name: 'x' });
    const old = encodeURIComponent(`${fake.url}/gone.png`);

    assert.equal(await fetched(`image?file=a&url=${encodeURIComponent(address)}`), 'picture');
    assert.equal(await fetched(`image?file=fresh&url=${old}`), 'picture');
    assert.equal(await fetched('record?file=inline'), 'voice');
    assert.equal(await fetched('file?file=fresh&group=7'), 'picture');
    await assert.rejects(fetched('image?file=path'), /path on its own machine/);
    await assert.rejects(fetched('image?file=unknown'), /not found/);
    await assert.rejects(fetched(`video?file=&url=${old}`), /no address/);
    await assert.rejects(fetched('unknown'), /no file of OneBot/);
    assert.deepEqual(
      fake.called('get_group_file_url').map((params) => params['group_id']),
      [7],
    );
  });
});

describe('files of OneBot that are said to be too large', () => {
  it('are not read, at their address as little as at a fresh one', async (t) => {
    const { fake, adapter, connection } = await sending(t);
    const address = fake.serve('/img.png', Buffer.alloc(1_001));
    fake.bot.files.set('fresh', { path: '', name: 'x', url: address });
    const link = Object.assign(Object.create(connection.link) as typeof connection.link, { maxFileBytes: 1_000 });
    const fetched = (id: string) => adapter.fetchFile?.({ ...file('f', 'image/png'), id }, link) ?? Promise.resolve();

    const ids = [`image?file=a&url=${encodeURIComponent(address)}`, 'image?file=fresh'];
    for (const id of ids) await assert.rejects(async () => fetched(id), { code: 'file_too_large' });
    Object.assign(link, { maxFileBytes: 1_001 });
    for (const id of ids) assert.ok((await fetched(id)) instanceof ReadableStream);
  });
});

describe('addresses of files of OneBot', () => {
  it('lead into no network of ours, but to the implementation: what a stranger of QQ has named may be anything', async (t) => {
    const { fetched, fake } = await sending(t);
    let asked = 0;
    const inside = createServer((_request, response) => {
      asked += 1;
      response.end('a secret of this machine');
    });
    await new Promise<void>((resolve) => inside.listen(0, '127.0.0.1', resolve));
    t.after(() => inside.close());
    const { port } = inside.address() as AddressInfo;
    fake.bot.files.set('moved', { path: '', name: 'x', url: `http://127.0.0.1:${port}/` });

    for (const host of ['127.0.0.1', 'localhost', '[::ffff:127.0.0.1]', '2130706433', '0'])
      await assert.rejects(fetched(`image?file=&url=${encodeURIComponent(`http://${host}:${port}/`)}`), /no address/);
    await assert.rejects(fetched('image?file=moved'), /is private or does not answer/);
    for (const url of ['file:///etc/hostname', 'data:,x', 'http://user:pass@127.0.0.1/', 'http://'])
      await assert.rejects(fetched(`image?file=&url=${encodeURIComponent(url)}`), /no address/);
    assert.equal(asked, 0);
  });
});

describe('the pace of sends of OneBot', () => {
  it('is that of the implementation where it asks for later: nothing else of the account is sent until then', async (t) => {
    const { fake, send } = await sending(t, { change: { mode: 'http', secrets: [secret('s')] } });
    fake.next('send_group_msg', { http: 429, headers: { 'retry-after': '60' } });

    const first = await send({ kind: 'post', text: 'one' });
    const second = await send({ kind: 'post', key: 'k2', text: 'two', conversation: 'group:8' });

    assert.deepEqual(first, { kind: 'later', afterMs: 60_000, account: true });
    assert.ok(second.kind === 'later' && second.afterMs > 20_000, JSON.stringify(second));
    assert.equal(fake.called('send_group_msg').length, 1);
  });

  it('keeps the calls of an account apart, and one that waits was not made when the connection ends', async (t) => {
    const { fake, send, connection } = await sending(t, { change: { perSecond: 10 } });
    await Promise.all(Array.from({ length: 6 }, (_, n) => send({ kind: 'post', key: `k${n}`, text: `${n}` })));

    assert.equal(fake.bot.texts().length, 6);
    const waiting = Array.from({ length: 5 }, (_, n) => send({ kind: 'post', key: `w${n}`, text: 'late' }));
    connection.link.stop();
    const ends = await Promise.allSettled(waiting);
    assert.equal(
      (ends.at(-1) as { readonly reason?: { readonly code?: string } }).reason?.code,
      'endpoint_unavailable',
    );
  });
});
