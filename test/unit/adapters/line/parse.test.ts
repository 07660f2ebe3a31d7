// Deliveries of LINE → arrivals, on the payloads that its documentation prints.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Account } from '../../../../worker/adapters/line/config.ts';
import { parse } from '../../../../worker/adapters/line/parse.ts';
import { rememberedOf } from '../../../../worker/adapters/line/remembered.ts';
import type { Arrival } from '../../../../worker/sdk/index.ts';
import { secret } from '../../../../worker/sdk/secret.ts';
import * as examples from '../../../support/accounts/line-examples.ts';

const { ANN, BEN, BOT, GROUP } = examples;
const newAccount = (): Account => ({
  channelAccessToken: secret('t'),
  channelSecrets: [],
  apiUrl: '',
  dataApiUrl: '',
});
const read = (delivery: object, account = newAccount()): readonly Arrival[] =>
  parse(
    {
      method: 'POST',
      path: '',
      query: {},
      headers: {},
      body: Buffer.from(JSON.stringify(delivery)),
      receivedAt: 5,
    },
    account,
  );
const one = (delivery: object, account = newAccount()): Arrival => {
  const [first, ...others] = read(delivery, account);
  assert.ok(first !== undefined && others.length === 0, 'one arrival');
  return first;
};
const saying = (text: string, more: object = {}, source: object = { type: 'group', groupId: GROUP, userId: ANN }) => ({
  destination: BOT,
  events: [
    { type: 'message', webhookEventId: 'e', timestamp: 1, source, message: { id: '1', type: 'text', text, ...more } },
  ],
});

describe('a delivery of LINE', () => {
  it('holds a text with its mentions, at UTF-16 positions', () => {
    const arrival = one(examples.TEXT);

    assert.deepEqual(arrival, {
      id: '01FZ74A0TDDPYRVKNK77XKC3ZR',
      conversation: { id: GROUP, kind: 'group' },
      user: { id: ANN, name: ANN, admin: false },
      sentAt: 1_462_629_479_859,
      kind: 'message',
      message: '444573844083572737',
      addressed: false,
      text: [
        { kind: 'mention', user: 'everyone' },
        { kind: 'text', text: ' ' },
        { kind: 'mention', user: { endpoint: '', id: BEN } },
        { kind: 'text', text: ' Good Morning!! (love)' },
      ],
    });
    const behindEmoji = one(
      saying('👋🏽 @ben', { mention: { mentionees: [{ index: 5, length: 4, type: 'user', userId: BEN }] } }),
    );
    assert.deepEqual('text' in behindEmoji && behindEmoji.text, [
      { kind: 'text', text: '👋🏽 ' },
      { kind: 'mention', user: { endpoint: '', id: BEN } },
    ]);
  });

  it('is to the bot in private, by a mention, and by a quote of what it said', () => {
    const account = newAccount();
    rememberedOf(account).sent('468789532432007169', 'q');
    const spoken = (delivery: object) => {
      const arrival = one(delivery, account);
      return arrival.kind === 'message' && [arrival.text, arrival.addressed];
    };
    const self = { mention: { mentionees: [{ index: 0, length: 4, type: 'user', userId: BOT, isSelf: true }] } };
    const middle = { mention: { mentionees: [{ index: 3, length: 4, type: 'user', isSelf: true }] } };

    assert.deepEqual(spoken(saying('hi', {}, { type: 'user', userId: ANN })), [[{ kind: 'text', text: 'hi' }], true]);
    assert.deepEqual(spoken(saying('@svc: /ping', self)), [[{ kind: 'text', text: '/ping' }], true]);
    assert.deepEqual(spoken(saying('hi @svc!', middle)), [[{ kind: 'text', text: 'hi @svc!' }], true]);
    assert.deepEqual(spoken(examples.QUOTING), [[{ kind: 'text', text: 'Chicken, please.' }], true]);
    assert.deepEqual(spoken(saying('hi')), [[{ kind: 'text', text: 'hi' }], false]);
    assert.equal((one(examples.QUOTING) as { replyTo?: string }).replyTo, '468789532432007169');
  });

  it('reads mentions that are not what they say as text', () => {
    const mentionees = [
      { index: -1, length: 2, type: 'all' },
      { index: 0, length: 0, type: 'all' },
      { index: 1, length: 99, type: 'all' },
      { index: '0', length: 1, type: 'all' },
      { index: 0, length: 2, type: 'user' },
      { index: 1, length: 2, type: 'all' },
    ];
    const arrival = one(saying('abcd', { mention: { mentionees } }));
    assert.deepEqual('text' in arrival && arrival.text, [{ kind: 'text', text: 'abcd' }]);
  });

  it('holds files by their message, and links to what lies elsewhere', () => {
    const held = [examples.IMAGE, examples.FILE, examples.VIDEO].map((delivery) => {
      const arrival = one(delivery);
      return arrival.kind === 'message' && [arrival.text, arrival.files];
    });

    assert.deepEqual(held, [
      ['', [{ id: '354718705033693859', name: 'image.jpg', mime: 'image/jpeg', bytes: 0 }]],
      ['', [{ id: '325708', name: 'file.txt', mime: 'application/octet-stream', bytes: 2_138 }]],
      [
        [{ kind: 'link', text: 'https://example.com/original.mp4', url: 'https://example.com/original.mp4' }],
        undefined,
      ],
    ]);
  });

  it('tells of a text that was changed, under the id of the message, when that was', () => {
    const { id: _id, user: _user, conversation, ...edited } = one(examples.EDITED);

    assert.deepEqual(
      [conversation.id, edited],
      [
        GROUP,
        {
          kind: 'edited',
          message: '444573844083572737',
          text: [{ kind: 'text', text: 'Good Evening!!' }],
          addressed: true,
          sentAt: 1_462_629_539_859,
        },
      ],
    );
    const sticker = { ...examples.EDITED.events[0], message: { id: '1', type: 'sticker' } };
    const other = one({ ...examples.EDITED, events: [sticker] });
    assert.equal(other.kind === 'other' && other.type, 'messageEdited');
  });

  it('tells of messages taken back, of members, and of presses', () => {
    const press = {
      ...examples.POSTBACK,
      events: [{ ...examples.POSTBACK.events[0], postback: { data: 'svc:tok-1' } }],
    };

    assert.deepEqual(
      [examples.UNSEND, examples.MEMBER_JOINED, examples.MEMBER_LEFT, press].flatMap((delivery) =>
        read(delivery).map(({ id: _id, sentAt: _at, conversation, user, ...rest }) => [conversation.id, user.id, rest]),
      ),
      [
        [GROUP, ANN, { kind: 'deleted', message: '325708' }],
        [GROUP, ANN, { kind: 'member', who: ANN, change: 'joined' }],
        [GROUP, BEN, { kind: 'member', who: BEN, change: 'joined' }],
        [GROUP, ANN, { kind: 'member', who: ANN, change: 'left' }],
        [ANN, ANN, { kind: 'pressed', message: '', token: 'tok-1' }],
      ],
    );
    const ids = read(examples.MEMBER_JOINED).map(({ id }) => id);
    assert.deepEqual(ids, ['01FZ74A0TDDPYRVKNK77XKC3ZR', '01FZ74A0TDDPYRVKNK77XKC3ZR.1']);
  });

  it('keeps what only LINE has, without the reply token', () => {
    const { FOLLOW, UNFOLLOW, JOIN, LEAVE, STICKER, POSTBACK } = examples;
    const standby = { ...examples.TEXT, events: [{ ...examples.TEXT.events[0], mode: 'standby' }] };
    const kept = [FOLLOW, UNFOLLOW, JOIN, LEAVE, STICKER, POSTBACK, standby].map((delivery) => one(delivery));

    assert.deepEqual(
      kept.map((arrival) => arrival.kind === 'other' && arrival.type),
      ['follow', 'unfollow', 'join', 'leave', 'message.sticker', 'postback', 'standby.message'],
    );
    assert.doesNotMatch(JSON.stringify(kept), /nHuyWiB7yP5Zw52FIkcQobQuGDXCTA/);
    assert.match(JSON.stringify(kept), /11537[^]*storeId=12345/);
  });

  it('may be empty, and may hold several; each keeps its id when it comes again', () => {
    assert.deepEqual(read({ destination: BOT, events: [] }), []);
    const [event] = examples.TEXT.events;
    const again = { ...event, deliveryContext: { isRedelivery: true } };
    const batch = { destination: BOT, events: [examples.UNSEND.events[0], again, 'rubbish', { type: 'message' }] };

    const ids = read(batch).map(({ id }) => id);

    assert.deepEqual(ids.slice(0, 2), ['01FZ74A0TDDPYRVKNK77XKC3ZR', '01FZ74A0TDDPYRVKNK77XKC3ZR']);
    assert.match(ids[2] ?? '', /^sha256:/);
  });

  it('is the same when it comes again, also what only LINE has', () => {
    const follow = {
      ...examples.TEXT.events[0],
      type: 'follow',
      webhookEventId: '01',
      deliveryContext: { isRedelivery: false },
    };
    const again = { ...follow, deliveryContext: { isRedelivery: true } };

    const [first, second] = read({ destination: BOT, events: [follow, again] });

    assert.deepEqual(second, first);
  });

  it('of the bot itself is marked as such, and anything else is no delivery', () => {
    assert.equal(one(saying('hi', {}, { type: 'user', userId: BOT })).user.self, true);
    for (const wrong of [[], 'x', { events: {} }, {}]) assert.throws(() => read(wrong as object), /no events/);
  });
});
