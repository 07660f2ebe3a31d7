// Text of XMPP: styling outward, what was meant for us inward, addresses of files that may be called.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { xml } from '@xmpp/client';
import { advance, readCursor, writeCursor } from '../../../../worker/adapters/xmpp/archive/cursor.ts';
import { addressFault } from '../../../../worker/adapters/xmpp/files/addresses.ts';
import { filesOf } from '../../../../worker/adapters/xmpp/files/attachments.ts';
import { MessageIds } from '../../../../worker/adapters/xmpp/message-ids.ts';
import { arrivalsOf } from '../../../../worker/adapters/xmpp/parse.ts';
import { inert } from '../../../../worker/adapters/xmpp/stanza.ts';
import { placeMentions, renderStyled, spokenTo } from '../../../../worker/adapters/xmpp/text.ts';
import { md, mention } from '../../../../worker/sdk/index.ts';
import { isPublic } from '../../../../worker/sdk/platform/public-address.ts';

const heard = (type: 'chat' | 'groupchat', body: string) => {
  const from = type === 'chat' ? 'ann@localhost/x' : 'room@conference.localhost/ann';
  const [arrival] = arrivalsOf(
    {
      stanza: xml('message', { from, type, id: 'm1' }, xml('body', {}, body)),
      archiveId: 'a1',
      sentAt: 0,
      isArchived: false,
    },
    {
      self: 'bot@localhost',
      nickIn: (room) => (room.startsWith('room@') ? 'bot' : undefined),
      occupant: () => undefined,
      ids: new MessageIds(),
      reactions: new Map(),
    },
  );
  assert.ok(arrival?.kind === 'message');
  return { text: arrival.text, addressed: arrival.addressed };
};

describe('text of XMPP', () => {
  it('takes what somebody does for no command, and for said to us where we are named (XEP-0245)', () => {
    const doing = (text: string) => [{ kind: 'text', text, marks: ['italic'] }];

    assert.deepEqual(heard('chat', '/me waves'), { text: doing('waves'), addressed: true });
    assert.deepEqual(heard('groupchat', '/me waves'), { text: doing('waves'), addressed: false });
    assert.deepEqual(heard('groupchat', '/me waves at @bot'), { text: doing('waves at @bot'), addressed: true });
    for (const said of ['/mean', '/me', '/me  ', ' /me waves', '/help'])
      assert.deepEqual(heard('chat', said), { text: said, addressed: true });
  });

  it('writes marks as XEP-0393 has them, blocks on lines of their own', () => {
    const rich = md`**bold** _it_ ~~no~~ \`x\` [here](https://example.org/a)\n> said\n\`\`\`\nlet x;\n\`\`\``;

    assert.equal(renderStyled(rich), '*bold* _it_ ~no~ `x` here (https://example.org/a)\n> said\n```\nlet x;\n```');
  });

  it('shows text as text: nothing of it begins a style (XMPP-TEXT-1)', () => {
    const shown = renderStyled({ segments: [{ kind: 'text', text: '*a* 2*3 _b_ snake_case\n> c\n```' }] });

    assert.equal(shown.replaceAll('\u2060', ''), '*a* 2*3 _b_ snake_case\n> c\n```');
    assert.ok(!/(^|\s)[*_~`>]\S/.test(shown), JSON.stringify(shown));
    assert.ok(shown.includes('2*3'));
  });

  it('leaves a style out of a line that holds its sign, where the span would end', () => {
    const bold = (text: string): string =>
      renderStyled({ segments: [{ kind: 'text', text, marks: ['bold', 'italic'] }] }).replaceAll('\u2060', '·');

    assert.equal(bold('2*3\nok\n> a*b_c'), '_2*3_\n*_ok_*\n·> a*b_c');
  });

  it('shows a text that begins like an action as text (XEP-0245)', () => {
    assert.equal(renderStyled(md`/me too`).replaceAll('\u2060', '·'), '·/me too');
    assert.equal(renderStyled(md`/mean`), '/mean');
  });

  it('puts nicks where people are mentioned, and counts in characters (XMPP-TEXT-2)', () => {
    const text = renderStyled(md`😀 ${mention({ endpoint: 'e', id: 'ann@localhost' })}!`);
    const placed = placeMentions(text, () => 'Ann');

    assert.deepEqual(placed, { text: '😀 Ann!', mentions: [{ begin: 2, end: 5, user: 'ann@localhost' }] });
  });

  it('knows when it is spoken to, by its whole name alone', () => {
    for (const [text, rest, isSpokenTo] of [
      ['bot: /ping', '/ping', true],
      ['@Bot hello', 'hello', true],
      ['Bot, hello', 'hello', true],
      ['bot', 'bot', false],
      ['botany: x', 'botany: x', false],
      ['ask @bot!', 'ask @bot!', true],
      ['ask @bots', 'ask @bots', false],
    ] as const)
      assert.deepEqual(spokenTo(text, 'bot'), { text: rest, isSpokenTo }, text);
  });

  it('leaves out what XML cannot hold', () => {
    assert.equal(inert('a\u0000\u0008\u000b\ufffe\tb\n\ud800c\udc00😀'), 'a\tb\n\ufffdc\ufffd😀');
  });

  it('calls public addresses over https alone, but those that are named', () => {
    for (const address of [
      '127.0.0.1',
      '10.1.2.3',
      '169.254.169.254',
      '::1',
      '::ffff:10.0.0.1',
      'fe80::1',
      'fd00::1',
      '64:ff9b::a00:1',
    ])
      assert.equal(isPublic(address), false, address);
    for (const address of ['93.184.216.34', '2606:4700::1111']) assert.equal(isPublic(address), true, address);
    const fault = (url: string): string | undefined => addressFault(new URL(url), ['files.lan', '10.0.0.1:8080']);
    assert.equal(fault('https://example.org/x'), undefined);
    assert.equal(fault('http://files.lan/x'), undefined);
    assert.equal(fault('http://10.0.0.1:8080/x'), undefined);
    for (const url of [
      'http://example.org/',
      'https://0x7f.1/',
      'https://[::1]/',
      'http://10.0.0.1:81/',
      'https://a:b@example.org/',
      'ftp://files.lan/',
    ])
      assert.notEqual(fault(url), undefined, url);
  });

  it('names the files of a message, each once, with what the sender says of them', () => {
    const stanza = xml(
      'message',
      {},
      xml(
        'file-sharing',
        { xmlns: 'urn:xmpp:sfs:0' },
        xml(
          'file',
          { xmlns: 'urn:xmpp:file:metadata:0' },
          xml('name', {}, '../summit.jpg'),
          xml('media-type', {}, 'image/jpeg'),
          xml('size', {}, '3032449'),
        ),
        xml(
          'sources',
          {},
          xml('url-data', { xmlns: 'http://jabber.org/protocol/url-data', target: 'https://example.org/a' }),
        ),
      ),
      ...['https://example.org/a', 'https://example.org/b%20c.pdf?x', 'file:///etc/passwd'].map((url) =>
        xml('x', { xmlns: 'jabber:x:oob' }, xml('url', {}, url)),
      ),
    );

    assert.deepEqual(filesOf(stanza), [
      { id: 'https://example.org/a', name: '..summit.jpg', mime: 'image/jpeg', bytes: 3_032_449 },
      { id: 'https://example.org/b%20c.pdf?x', name: 'b c.pdf', mime: 'application/pdf', bytes: 0 },
    ]);
  });

  it('keeps a cursor for each place, and takes none of another account', () => {
    const cursor = advance(advance(readCursor(undefined, 'a@b'), { place: 'a@b', id: 'x', at: 1 }), {
      place: 'r@c',
      at: 2,
    });

    assert.deepEqual(readCursor(writeCursor(cursor), 'a@b'), cursor);
    for (const other of [writeCursor({ ...cursor, jid: 'c@d' }), '{', '{"v":1,"jid":"a@b","seen":7}', 'null'])
      assert.deepEqual(readCursor(other, 'a@b').seen, {}, other);
  });
});
