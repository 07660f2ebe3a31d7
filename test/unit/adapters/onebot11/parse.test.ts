// Events of OneBot 11 → what arrived, with the examples of the specification.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { formatCq, parseCq } from '../../../../worker/adapters/onebot11/message/cq-code.ts';
import { fromEmojiId, toEmojiId } from '../../../../worker/adapters/onebot11/message/emoji.ts';
import { readFileId } from '../../../../worker/adapters/onebot11/message/file-name.ts';
import { piecesOf, readMessage } from '../../../../worker/adapters/onebot11/message/message.ts';
import { toCq } from '../../../../worker/adapters/onebot11/message/text.ts';
import { arrivalsOf, parse } from '../../../../worker/adapters/onebot11/parse.ts';
import { placeName, readPlace } from '../../../../worker/adapters/onebot11/place.ts';
import { md, mention } from '../../../../worker/sdk/index.ts';
import {
  ARRAY_FORM,
  CODES,
  ESCAPES,
  POSTED,
  SEGMENTS,
  STRING_FORM,
} from '../../../support/accounts/onebot11-examples.ts';

const BOT = '10001000';
const SELF = 10_001_000;
const at = { self: undefined, now: 1_000 };
const event = (more: object) => ({ time: 1_515_204_254, self_id: SELF, ...more });
const group = (message: unknown, more: object = {}) =>
  event({
    post_type: 'message',
    message_type: 'group',
    sub_type: 'normal',
    message_id: -12,
    group_id: 7,
    user_id: 5,
    message,
    sender: { user_id: 5, nickname: 'Ann', card: 'Annie', role: 'admin' },
    ...more,
  });
const only = (given: object) => {
  const [arrival, ...more] = arrivalsOf(given as never, at);
  assert.deepEqual(more, []);
  assert.ok(arrival !== undefined);
  return arrival;
};
const request = (body: string) => ({
  method: 'POST',
  path: '/',
  query: {},
  headers: {},
  body: Buffer.from(body),
  receivedAt: 1_000,
});

describe('CQ codes', () => {
  it('are read and written as the specification shows', () => {
    for (const [code, type, data] of CODES) {
      assert.deepEqual(parseCq(code), [{ type, data }]);
      assert.deepEqual(parseCq(formatCq({ type, data })), [{ type, data }]);
    }
    for (const [plain, escaped] of ESCAPES) {
      assert.deepEqual(parseCq(escaped), [{ type: 'text', data: { text: plain } }]);
      assert.equal(formatCq({ type: 'text', data: { text: plain } }), escaped);
    }
    assert.deepEqual(parseCq(STRING_FORM), ARRAY_FORM);
  });

  it('that are none stay text, and no key reaches a prototype', () => {
    const broken = '[CQ:at,qq=5 [CQ:] [CQ [cq:at] &amp;#91; &lt;';
    assert.deepEqual(parseCq(broken), [{ type: 'text', data: { text: '[CQ:at,qq=5 [CQ:] [CQ [cq:at] &#91; &lt;' } }]);
    assert.deepEqual(Object.keys(parseCq('[CQ:x,__proto__=1,constructor=2]')[0]?.data ?? {}), ['constructor']);
    assert.deepEqual(parseCq(''), []);
  });
});

describe('messages of OneBot', () => {
  it('arrive from the example of the specification', () => {
    assert.deepEqual(parse(request(POSTED), {}), [
      {
        id: `${BOT}/message/12/1515204254`,
        kind: 'message',
        message: '12',
        text: '你好～',
        sentAt: 1_515_204_254_000,
        addressed: true,
        conversation: { id: 'private:12345678', kind: 'private' },
        user: { id: '12345678', name: '小不点', admin: false },
      },
    ]);
  });

  it('are the same in both forms: mentions, an answer, files', () => {
    const forms = [STRING_FORM, ARRAY_FORM].map((form) => only(group(form)));

    assert.deepEqual(forms[0], forms[1]);
    const [one] = forms;
    assert.ok(one?.kind === 'message');
    assert.equal(one.text, '[第一部分]图片之后的部分，表情：[face 123]');
    assert.deepEqual(one.files, [{ id: 'image?file=123.jpg&group=7', name: '123.jpg', mime: 'image/jpeg', bytes: 0 }]);
    assert.deepEqual(one.conversation, { id: 'group:7', kind: 'group' });
    assert.deepEqual(one.user, { id: '5', name: 'Annie', admin: true });
    assert.equal(one.addressed, false);
  });

  it('are addressed by a mention of the bot, which is no part of the text', () => {
    const said = only(group(`[CQ:reply,id=-3][CQ:at,qq=${BOT}] /help [CQ:at,qq=6] [CQ:at,qq=all]`));

    assert.ok(said.kind === 'message');
    assert.deepEqual([said.addressed, said.replyTo], [true, '-3']);
    assert.deepEqual(said.text, [
      { kind: 'text', text: '/help ' },
      { kind: 'mention', user: { endpoint: '', id: '6' } },
      { kind: 'text', text: ' ' },
      { kind: 'mention', user: 'everyone' },
    ]);
    const late = readMessage(`hello [CQ:at,qq=${BOT}]`, { self: BOT, group: '7' });
    assert.equal(late.isMeant, true);
    assert.equal(late.text.length, 2, 'a mention in the middle stays');
  });

  it('name what has no text of its own, for each kind of the specification', () => {
    const { text, files, replyTo, isMeant } = readMessage(SEGMENTS, { self: BOT, group: undefined });

    const shown =
      typeof text === 'string' ? text : text.map((one) => ('text' in one ? one.text : `<${one.kind}>`)).join('|');
    assert.equal(
      shown,
      '纯文本内容|[face 123]|<mention>|[rps]|[dice]|[poke 2003]|百度|[contact 10001000]|[location 39.8969426, 116.3109099]|[forward 123456]|[xml]|[json]',
    );
    assert.deepEqual(
      [replyTo, isMeant, files.map(({ name }) => name)],
      ['123456', true, ['image.jpg', 'voice.amr', 'video.mp4']],
    );
    assert.deepEqual(readFileId(files[0]?.id ?? ''), {
      kind: 'image',
      file: '',
      url: 'http://baidu.com/1.jpg',
      group: undefined,
    });
    assert.deepEqual(piecesOf({ type: 'text', data: null }), [{ type: 'text', data: {} }]);
    assert.deepEqual(piecesOf(7), []);
  });

  it('are known by bot, id and second: the same one sent again, and not another with the same id', () => {
    const ids = [group('a'), group('a'), group('a', { time: 1_515_204_255 }), group('a', { self_id: 42 })].map(
      (one) => only(one).id,
    );

    assert.equal(ids[0], ids[1]);
    assert.equal(new Set(ids).size, 3);
  });

  it('of the bot itself and of another bot are left out or marked', () => {
    assert.deepEqual(arrivalsOf(group('x', { post_type: 'message_sent', user_id: SELF }), at), []);
    assert.equal(only(group('x', { user_id: SELF })).user.self, true);
    assert.deepEqual(arrivalsOf(group('x'), { self: '42', now: 1 }), []);
    assert.deepEqual(parse(request(POSTED), { selfId: '42' }), []);
  });

  it('of somebody hidden have the hidden name, of a stranger of a group the way through it', () => {
    const hidden = only(group('x', { sub_type: 'anonymous', anonymous: { id: 99, name: '大力鬼王', flag: 'f' } }));
    const stranger = only(
      group('x', { message_type: 'private', sub_type: 'group', sender: { user_id: 5, nickname: 'A', group_id: 7 } }),
    );

    assert.deepEqual(hidden.user, { id: 'anonymous:99', name: '大力鬼王', admin: false });
    assert.deepEqual(stranger.conversation, { id: 'temp:7:5', kind: 'private' });
    assert.ok(stranger.kind === 'message' && stranger.addressed === true);
  });

  it('that are none are refused', () => {
    for (const body of ['', '[]', '{}', '{"post_type":"message","self_id":1}', '{"post_type":"message"}'])
      assert.throws(() => parse(request(body), {}));
  });
});

describe('notices of OneBot', () => {
  const notice = (more: object) => event({ post_type: 'notice', group_id: 7, user_id: 5, ...more });

  it('become deletions, members and reactions', () => {
    const recalled = only(notice({ notice_type: 'group_recall', operator_id: 6, message_id: 3 }));
    const friend = only(event({ post_type: 'notice', notice_type: 'friend_recall', user_id: 5, message_id: 4 }));
    const joined = only(notice({ notice_type: 'group_increase', sub_type: 'approve', operator_id: 6 }));
    const left = only(notice({ notice_type: 'group_decrease', sub_type: 'kick_me', user_id: SELF, operator_id: 6 }));
    const liked = only(
      notice({ notice_type: 'group_msg_emoji_like', message_id: 3, likes: [{ emoji_id: '128077', count: 1 }] }),
    );
    const unliked = only(
      notice({ notice_type: 'reaction', sub_type: 'remove', operator_id: 6, message_id: 3, code: '76' }),
    );

    assert.deepEqual(
      [recalled, friend].map((one) => [one.kind, one.conversation.id, one.user.id, 'message' in one && one.message]),
      [
        ['deleted', 'group:7', '6', '3'],
        ['deleted', 'private:5', '5', '4'],
      ],
    );
    assert.deepEqual(
      [joined, left].map((one) => one.kind === 'member' && [one.who, one.change, one.user.self]),
      [
        ['5', 'joined', undefined],
        [BOT, 'left', undefined],
      ],
    );
    assert.deepEqual(
      [liked, unliked].map((one) => one.kind === 'reaction' && [one.emoji, one.on, one.message, one.user.id]),
      [
        ['👍', true, '3', '5'],
        ['face:76', false, '3', '6'],
      ],
    );
  });

  it('without a form of their own arrive as they came, but for typing and meta events', () => {
    const types = [
      notice({ notice_type: 'group_upload', file: { id: 'f', name: 'a.txt', size: 3, busid: 1 } }),
      notice({ notice_type: 'notify', sub_type: 'poke', target_id: 6 }),
      notice({ notice_type: 'group_recall' }),
      event({ post_type: 'request', request_type: 'friend', user_id: 9, comment: 'hi', flag: 'f' }),
      event({ post_type: 'something' }),
    ].map((one) => {
      const arrival = only(one);
      return arrival.kind === 'other' && [arrival.type, arrival.conversation.id, arrival.raw === one];
    });

    assert.deepEqual(types, [
      ['notice.group_upload', 'group:7', true],
      ['notice.notify.poke', 'group:7', true],
      ['notice.group_recall', 'group:7', true],
      ['request.friend', 'private:9', true],
      ['something', `private:${BOT}`, true],
    ]);
    assert.deepEqual(arrivalsOf(notice({ notice_type: 'notify', sub_type: 'input_status' }), at), []);
    assert.deepEqual(arrivalsOf(event({ post_type: 'meta_event', meta_event_type: 'heartbeat' }), at), []);
  });

  it('are known by all their fields, whatever their order', () => {
    const poke = { notice_type: 'notify', sub_type: 'poke', target_id: 6 };
    const ids = [
      notice(poke),
      Object.fromEntries(Object.entries(notice(poke)).toReversed()),
      notice({ ...poke, target_id: 8 }),
      notice({ ...poke, time: 2 }),
    ].map((one) => only(one).id);

    assert.equal(ids[0], ids[1]);
    assert.equal(new Set(ids).size, 3);
  });
});

describe('names of OneBot', () => {
  it('say whether a conversation is of a person or of a group', () => {
    for (const name of ['private:5', 'group:5', 'temp:7:5'])
      assert.equal(placeName(readPlace(name) ?? { kind: 'group', group: '' }), name);
    for (const name of ['5', 'group:', 'group:1:2', 'temp:7', 'private:x', 'private:5 '])
      assert.equal(readPlace(name), undefined);
  });

  it('of reactions are emoji, or numbers of faces', () => {
    for (const emoji of ['👍', '❤', 'face:76']) assert.equal(fromEmojiId(toEmojiId(emoji) ?? ''), emoji);
    assert.deepEqual([toEmojiId('+1'), toEmojiId(''), fromEmojiId('x')], [undefined, undefined, 'face:x']);
  });

  it('stand in text whose code and quotes have lines of their own', () => {
    const text = (written: string) => ({ kind: 'text' as const, text: written });
    const code = { kind: 'code' as const, text: 'a = 1\n' };

    assert.equal(
      toCq({ segments: [text('see:'), code, { kind: 'quote', text: 'q' }, text('end')] }),
      'see:\na = 1\n> q\nend',
    );
  });

  it('of text that goes out are escaped, and mentions are codes', () => {
    const user = { endpoint: 'e', id: '5' };
    const text = md`**[CQ:at,qq=all]** & ${mention(user)} ${mention('everyone')} ${mention({ endpoint: 'e', id: 'x[' })}`;

    assert.equal(toCq(text), '&#91;CQ:at,qq=all&#93; &amp; [CQ:at,qq=5] [CQ:at,qq=all] @x&#91;');
  });
});
