// What the adapter telegram sends, at the fake Bot API server, which telegram-client.test.ts holds to the documentation.
import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { describe, it } from 'node:test';
import type { FileRef, Mark, Segment } from '../../../worker/sdk/index.ts';
import { adapterLink } from '../../support/accounts/adapter-link.ts';
import { telegramAdapter as adapter, telegramBench as bench } from '../../support/accounts/telegram-bench.ts';
import { TelegramRefusal } from '../../support/fake-platforms/telegram/calls.ts';

describe('telegram: sending', { timeout: 590_000 }, () => {
  it('posts, answers, edits, reacts, removes; what is already so counts as done', async (t) => {
    const { telegram, send } = await bench(t);
    const buttons = [
      { label: 'Yes', token: 'a' },
      { label: 'No', token: 'b', style: 'danger' as const },
    ];
    const first = await send({ kind: 'post', text: '<b>Hi</b> &lt;you&gt;', buttons });
    assert.deepEqual(first, { kind: 'sent', message: '1' });
    await send({ kind: 'post', text: 'r', replyTo: '1' });
    await send({ kind: 'post', text: 't', thread: 'topic:8' });
    await send({ kind: 'post', text: 'm', thread: '1' });
    await send({ kind: 'post', text: 'd', thread: 'direct:5' });
    assert.equal(telegram.called('sendMessage').at(-1)?.['direct_messages_topic_id'], 5);
    assert.deepEqual(
      telegram.messages(5).map(({ text, replyTo, thread }) => [text, replyTo, thread]),
      [
        ['Hi <you>', undefined, undefined],
        ['r', 1, undefined],
        ['t', undefined, 8],
        ['m', 1, undefined],
        ['d', undefined, undefined],
      ],
    );
    assert.deepEqual(
      telegram.messages(5)[0]?.buttons.map(({ text, callback_data }) => [text, callback_data]),
      [
        ['Yes', 'a'],
        ['No', 'b'],
      ],
    );
    for (const _ of ['first', 'again']) {
      assert.deepEqual(await send({ kind: 'edit', message: '1', text: 'new' }), { kind: 'sent', message: '1' });
      assert.equal((await send({ kind: 'react', message: '1', emoji: '❤️', on: true })).kind, 'sent');
    }
    assert.deepEqual(
      [telegram.messages(5)[0]].map((one) => [one?.text, one?.buttons, one?.reactions]),
      [['new', [], ['❤']]],
    );
    assert.equal((await send({ kind: 'react', message: '1', emoji: '🦜', on: true })).kind, 'refused');
    const custom = '5368324170671202286'; // as one comes that is not of Unicode
    assert.equal((await send({ kind: 'react', message: '1', emoji: custom, on: true })).kind, 'sent');
    assert.deepEqual(telegram.messages(5)[0]?.reactions, [`custom:${custom}`]);
    assert.equal((await send({ kind: 'typing', thread: 'topic:8' })).kind, 'sent');
    assert.deepEqual(
      telegram.called('sendChatAction').map(({ message_thread_id: topic }) => topic),
      [8],
    );
    for (const _ of ['first', 'again']) assert.equal((await send({ kind: 'remove', message: '2' })).kind, 'sent');
    assert.equal(telegram.messages(5).length, 4);
  });

  it('says later, refused, or nothing sure, as Telegram does', async (t) => {
    const { telegram, token, send } = await bench(t);
    const post = { kind: 'post', text: 'x' } as const;
    const limit = { ok: false, error_code: 429, description: 'Too Many Requests', parameters: { retry_after: 3 } };
    telegram.next('sendMessage', { status: 429, body: limit }, { status: 502 }, 'drop');
    telegram.chats.closed.set(6, new TelegramRefusal(403, 'Forbidden: bot was blocked by the user'));

    assert.deepEqual(await send(post), { kind: 'later', afterMs: 3_000 });
    await assert.rejects(send(post), /502/);
    const lost = await send(post).then(
      () => undefined,
      (error: Error) => error,
    );
    assert.ok(lost !== undefined && !JSON.stringify([lost.message, String(lost.cause)]).includes(token));
    assert.deepEqual(await send({ ...post, conversation: '6' }), {
      kind: 'refused',
      reason: 'Telegram: Forbidden: bot was blocked by the user',
      gone: true,
    });
    assert.equal((await send({ ...post, conversation: 'room' })).kind, 'refused');
    assert.equal((await send({ ...post, text: 'a < b' })).kind, 'refused');
  });

  it('holds one chat at a limit, and the whole bot where a second chat meets it meanwhile', async (t) => {
    const { telegram, send } = await bench(t);
    const limit = (seconds: number) => {
      const body = {
        ok: false,
        error_code: 429,
        description: 'Too Many Requests',
        parameters: { retry_after: seconds },
      };
      telegram.next('sendMessage', { status: 429, body });
    };
    const sendTo = (conversation: string) => send({ kind: 'post', text: 'x', conversation });
    const later = { kind: 'later', afterMs: 3_000 };

    for (const chat of ['5', '5', '6']) {
      limit(3);
      assert.deepEqual(await sendTo(chat), chat === '5' ? later : { ...later, account: true });
    }
  });

  it("refuses one call, and not the account, where a server of one's own does not know the method", async (t) => {
    const { telegram, send } = await bench(t);
    const lacking = { ok: false, error_code: 404, description: 'Not Found: method not found' };
    telegram.next('setMessageReaction', { status: 404, body: lacking });
    telegram.next('sendMessage', { status: 404, body: { ok: false, error_code: 404, description: 'Not Found' } });

    assert.deepEqual(await send({ kind: 'react', message: '1', emoji: '👍', on: true }), {
      kind: 'refused',
      reason: 'Telegram: Not Found: method not found',
    });
    await assert.rejects(send({ kind: 'post', text: 'x' }), { code: 'account_failed', remedy: /apiUrl/ });
  });

  it('is not cut by the end of the connection: cut, it would be made twice', async (t) => {
    const { telegram, account } = await bench(t);
    const link = adapterLink(account);
    const post = { kind: 'post', key: 'k', conversation: '5', text: 'x', buttons: [], files: [] } as const;
    const sending = adapter.send(post, link);
    link.stop();

    assert.deepEqual(await sending, { kind: 'sent', message: '1' });
    assert.equal(telegram.messages(5).length, 1);
  });

  it('follows a group that became a supergroup, and keeps to 20 messages a minute in it', async (t) => {
    const { telegram, send } = await bench(t);
    const moved = { migrate_to_chat_id: -100_7 };
    telegram.chats.closed.set(
      -7,
      new TelegramRefusal(400, 'Bad Request: group chat was upgraded to a supergroup chat', moved),
    );

    for (let i = 0; i < 20; i += 1)
      assert.equal((await send({ kind: 'post', key: `k${i}`, conversation: '-7', text: `${i}` })).kind, 'sent');
    assert.equal(telegram.messages(-100_7).length, 20);
    for (const conversation of ['-7', '-1007']) {
      const held = await send({ kind: 'post', conversation, text: 'one more' });
      assert.ok(held.kind === 'later' && held.afterMs <= 60_000);
    }
  });

  it('sends files: with a short text as caption, with a long one behind it, several as albums', async (t) => {
    const { telegram, account } = await bench(t);
    const stored = (name: string, mime: string): FileRef => ({ id: 'f'.repeat(64), name, mime, bytes: 3 });
    const known = telegram.chats.holds(Buffer.from('there'));
    const link = {
      ...adapterLink(account),
      signal: new AbortController().signal,
      openFile: async () => ({ bytes: 3, content: () => Readable.from([Buffer.from('abc')]) }),
    };
    const send = (key: string, text: string, files: readonly FileRef[]) =>
      adapter.send({ kind: 'post', key, conversation: '5', text, buttons: [], files }, link);

    await send('a', '<i>see</i>', [stored('a"b;\r\nc.txt', 'text/plain')]);
    await send('b', 'x'.repeat(1_025), [{ id: known, name: 'x', mime: 'text/plain', bytes: 5 }]);
    await send('c', '', [stored('1.png', 'image/png'), stored('2.txt', 'text/plain'), stored('3.txt', 'text/plain')]);

    assert.deepEqual(
      telegram.messages(5).map(({ text, file }) => [text.slice(0, 3), file]),
      [
        ['see', 'a_b___c.txt: abc'],
        ['xxx', undefined],
        ['', known],
        ['', '1.png: abc'],
        ['', '2.txt: abc'],
        ['', '3.txt: abc'],
      ],
    );
    assert.equal(telegram.called('sendPhoto').length, 1);
  });

  it('shows the buttons and the reference of files without a text, which an album takes none of (TELEGRAM-SEND-7)', async (t) => {
    const { telegram, account } = await bench(t);
    const content = (): Readable => Readable.from([Buffer.from('abc')]);
    const link = { ...adapterLink(account), openFile: async () => ({ bytes: 3, content }) };
    const files = ['1.txt', '2.txt'].map((name) => ({ id: 'f'.repeat(64), name, mime: 'text/plain', bytes: 3 }));
    const buttons = [
      { label: 'Yes & no', token: 'a' },
      { label: 'Tell @ann', token: 'b' },
    ];
    const send = (key: string, more: object) =>
      adapter.send({ kind: 'post', key, conversation: '5', text: '', buttons: [], files: [], ...more }, link);

    // Parts of one post, as the host makes them: what holds the buttons, and the album behind it.
    assert.deepEqual(await send('a', { buttons, replyTo: '9' }), { kind: 'sent', message: '1' });
    assert.deepEqual(await send('b', { files, replyTo: '9' }), { kind: 'sent', message: '2+3' });
    // As an older version has stored it, in one.
    assert.deepEqual(await send('c', { buttons, files, replyTo: '9' }), { kind: 'sent', message: '4+5+6' });

    const labels = 'Yes & no · Tell @\u2060ann';
    const held = { text: labels, replyTo: 9, tokens: ['a', 'b'] };
    const bare = { text: '', tokens: [] };
    assert.deepEqual(
      telegram.messages(5).map(({ text, replyTo, buttons: shown }) => {
        const tokens = shown.map(({ callback_data: token }) => token);
        return replyTo === undefined ? { text, tokens } : { text, replyTo, tokens };
      }),
      [held, { ...bare, replyTo: 9 }, { ...bare, replyTo: 9 }, held, bare, bare],
    );
  });

  it('goes on with a post of several calls where it stopped', async (t) => {
    const { telegram, account } = await bench(t);
    const link = {
      ...adapterLink(account),
      signal: new AbortController().signal,
      openFile: async () => ({ bytes: 3, content: () => Readable.from([Buffer.from('abc')]) }),
    };
    const file = { id: 'f'.repeat(64), name: 'a.txt', mime: 'text/plain', bytes: 3 };
    const call = {
      kind: 'post',
      key: 'k',
      conversation: '5',
      text: 'x'.repeat(2_000),
      buttons: [],
      files: [file],
    } as const;
    telegram.next('sendDocument', { status: 502 });

    await assert.rejects(adapter.send(call, link));
    // As a reload makes it: another account of the same.
    const reloaded = { ...link, account: { ...account } };
    assert.deepEqual(await adapter.send(call, reloaded), { kind: 'sent', message: '1+2' });
    assert.equal(telegram.messages(5).length, 2);
  });

  it('removes what took several messages with all of them, and changes the first (TELEGRAM-SEND-6)', async (t) => {
    const { telegram, account, send } = await bench(t);
    const link = {
      ...adapterLink(account),
      signal: new AbortController().signal,
      openFile: async () => ({ bytes: 3, content: () => Readable.from([Buffer.from('abc')]) }),
    };
    const files = ['1.txt', '2.txt', '3.png'].map((name) => ({
      id: 'f'.repeat(64),
      name,
      mime: name.endsWith('png') ? 'image/png' : 'text/plain',
      bytes: 3,
    }));
    const posted = await adapter.send(
      { kind: 'post', key: 'k', conversation: '5', text: 'see', buttons: [], files },
      link,
    );
    assert.deepEqual(posted, { kind: 'sent', message: '1+2+3+4' });
    assert.ok(posted.kind === 'sent' && posted.message !== undefined);
    const { message } = posted;

    assert.deepEqual(await send({ kind: 'edit', message, text: 'new' }), { kind: 'sent', message });
    assert.equal((await send({ kind: 'react', message, emoji: '👍', on: true })).kind, 'sent');
    await send({ kind: 'post', text: 'an answer', replyTo: message });
    const [first, , , , answer] = telegram.messages(5);
    assert.deepEqual([first?.text, first?.reactions, answer?.replyTo], ['new', ['👍'], 1]);

    for (const _ of ['first', 'again']) assert.deepEqual(await send({ kind: 'remove', message }), { kind: 'sent' });
    assert.deepEqual(
      telegram.messages(5).map(({ text }) => text),
      ['an answer'],
    );
  });

  it('sends what came by its id as what it was, else its bytes', async (t) => {
    const { telegram, account } = await bench(t);
    const content = (): Readable => Readable.from([Buffer.from('bytes')]);
    const link = { ...adapterLink(account), openFile: async () => ({ bytes: 5, content }) };
    const came = (kind: string, name: string, mime: string): FileRef => ({
      id: telegram.chats.holds(Buffer.from('bytes'), kind),
      name,
      mime,
      bytes: 5,
    });
    const files = [
      came('video', 'video.mp4', 'video/mp4'),
      came('voice', 'voice.ogg', 'audio/ogg'),
      came('audio', 'song.mp3', 'audio/mpeg'),
      came('document', 'scan.jpg', 'image/jpeg'),
      came('sticker', 'sticker.webp', 'image/webp'),
    ];
    const call = { kind: 'post', conversation: '5', text: '', buttons: [] } as const;

    for (const [i, file] of files.entries())
      assert.equal((await adapter.send({ ...call, key: `k${i}`, files: [file] }, link)).kind, 'sent');
    assert.equal((await adapter.send({ ...call, key: 'all', files: files.slice(0, 2) }, link)).kind, 'sent');

    const [video, voice, song, scan] = files.map(({ id }) => id);
    const uploaded = 'sticker.webp: bytes';
    assert.deepEqual(
      telegram.messages(5).map(({ file }) => file),
      [video, voice, song, scan, uploaded, 'video.mp4: bytes', 'voice.ogg: bytes'],
    );
    const lost = { ...link, openFile: () => Promise.reject(new Error('over 20 MB')) };
    const sticker = came('sticker', 'sticker.webp', 'image/webp');
    assert.deepEqual(await adapter.send({ ...call, key: 'lost', files: [sticker] }, lost), {
      kind: 'refused',
      reason: 'Telegram: Bad Request: type of file mismatch',
    });
  });

  it('fetches files, and names no address when it fails', async (t) => {
    const { telegram, token, link } = await bench(t);
    const id = telegram.chats.holds(Buffer.from('content'));
    const file = (of: string) => ({ id: of, name: 'x', mime: 'text/plain', bytes: 7 });

    const stream = await adapter.fetchFile?.(file(id), link);
    assert.ok(stream !== undefined);
    assert.equal(await new Response(stream).text(), 'content');
    const failed = await adapter.fetchFile?.(file('unknown'), link).catch((error: unknown) => String(error));
    assert.match(String(failed), /wrong file_id/);
    assert.ok(!String(failed).includes(token));
  });

  it('fills the menu with the commands that it takes', async (t) => {
    const { telegram, link } = await bench(t);
    const args = { type: 'object', properties: {} } as never;
    const named = (name: string) => ({ name, summary: `Does ${name}`, args });
    await adapter.announce?.([named('ping'), named('Not-Allowed'), named('help')], link);
    assert.deepEqual(telegram.chats.commands, [
      {
        commands: [
          { command: 'ping', description: 'Does ping' },
          { command: 'help', description: 'Does help' },
        ],
      },
    ]);
  });

  it('renders what means something, and mentions people by name', () => {
    const { render } = adapter.can.text;
    assert.ok(typeof render === 'function');
    const html = render({
      segments: [
        { kind: 'text', text: 'a<b', marks: ['bold', 'italic'] },
        { kind: 'link', text: 'x', url: 'https://x.example/?a="1"' },
        { kind: 'link', text: 'y', url: 'javascript:alert(1)' },
        { kind: 'mention', user: { endpoint: 'e', id: '77' } },
        { kind: 'mention', user: 'everyone' },
        { kind: 'quote', text: 'q' },
        { kind: 'code', text: 'x & y\n', language: 'ts' },
        { kind: 'text', text: 'end' },
      ],
    });
    assert.equal(
      html,
      '<b><i>a&lt;b</i></b><a href="https://x.example/?a=&quot;1&quot;">x</a>y (javascript:alert(1))<a href="tg://user?id=77">@77</a>@\u2060everyone\n<blockquote>q</blockquote>\n<pre><code class="language-ts">x &amp; y</code></pre>\nend',
    );
  });

  it('mentions nobody by what is literal, and leaves mail, addresses and code as they are', () => {
    const { render } = adapter.can.text;
    assert.ok(typeof render === 'function');
    const shown = (...segments: Segment[]): string => render({ segments }).replaceAll('\u2060', '·');
    const text = (written: string, ...marks: Mark[]): Segment => ({ kind: 'text', text: written, marks });

    assert.equal(
      shown(text('@bob_b, (@eve): ann@example.net https://x.example/@bob')),
      '@·bob_b, (@·eve): ann@example.net https://x.example/@bob',
    );
    assert.equal(shown(text('@'), text('bob', 'bold')), '@·<b>bob</b>');
    assert.equal(shown({ kind: 'mention', user: { endpoint: 'e', id: 'x' } }, text('s cat')), '@·x·s cat');
    assert.equal(shown({ kind: 'quote', text: '@bob' }), '<blockquote>@·bob</blockquote>');
    assert.equal(
      shown({ kind: 'link', text: '@bob', url: 'https://x.example' }),
      '<a href="https://x.example">@·bob</a>',
    );
    assert.equal(shown(text('@bob', 'code')), '<code>@bob</code>');
  });
});
