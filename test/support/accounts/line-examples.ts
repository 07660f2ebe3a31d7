// Payloads as LINE's documentation prints them (developers.line.biz: reference/messaging-api, webhook event objects), and the signature of
// docs/messaging-api/verify-webhook-signature. Ids that are cut there (`U4af4980629...`) are filled up with zeros.

/** Printed whole: secret, body and signature. */
export const SIGNED = {
  secret: '8c570fa6dd201bb328f1c1eac23a96d8',
  body: '{"destination":"U8e742f61d673b39c7fff3cecb7536ef0","events":[]}',
  signature: 'GhRKmvmHys4Pi8DxkF4+EayaH0OqtJtaZxgTD9fMDLs=',
} as const;

export const BOT = 'U8e742f61d673b39c7fff3cecb7536ef0';
export const GROUP = 'Ca56f94637c0000000000000000000000';
export const ANN = 'U4af49806290000000000000000000000';
export const BEN = 'U49585cd0d50000000000000000000000';

const common = {
  mode: 'active',
  timestamp: 1_462_629_479_859,
  source: { type: 'group', groupId: GROUP, userId: ANN },
  webhookEventId: '01FZ74A0TDDPYRVKNK77XKC3ZR',
  deliveryContext: { isRedelivery: false },
};
const delivery = (event: object) => ({ destination: BOT, events: [{ ...common, ...event }] });
const REPLY = { replyToken: 'nHuyWiB7yP5Zw52FIkcQobQuGDXCTA' };
const inPrivate = { source: { type: 'user', userId: ANN } };

/** "When a user sends a text message containing mention and an emoji in a group chat". */
export const TEXT = delivery({
  ...REPLY,
  type: 'message',
  message: {
    id: '444573844083572737',
    type: 'text',
    quoteToken: 'q3Plxr4AgKd...',
    markAsReadToken: '30yhdy232...',
    text: '@All @example Good Morning!! (love)',
    emojis: [{ index: 29, length: 6, productId: '5ac1bfd5040ab15980c9b435', emojiId: '001' }],
    mention: {
      mentionees: [
        { index: 0, length: 4, type: 'all' },
        { index: 5, length: 8, userId: BEN, type: 'user', isSelf: false },
      ],
    },
  },
});

/** "When a user sends a text message that quotes a past message". */
export const QUOTING = delivery({
  ...REPLY,
  type: 'message',
  message: {
    id: '468789577898262530',
    type: 'text',
    quoteToken: 'q3Plxr4AgKd...',
    quotedMessageId: '468789532432007169',
    text: 'Chicken, please.',
  },
});

/** A text that its writer has changed: LINE has told of it since August 2026, in groups; the fields are those of its own library (`MessageEditedEvent`). */
export const EDITED = delivery({
  ...REPLY,
  type: 'messageEdited',
  timestamp: 1_462_629_539_859,
  webhookEventId: '01FZ74ASS536FW97EX38NKCZQK',
  message: {
    id: '444573844083572737',
    type: 'text',
    quoteToken: 'q3Plxr4AgKd...',
    text: '@bot Good Evening!!',
    mention: { mentionees: [{ index: 0, length: 4, userId: BOT, type: 'user', isSelf: true }] },
  },
});

export const IMAGE = delivery({
  ...REPLY,
  type: 'message',
  message: {
    type: 'image',
    id: '354718705033693859',
    quoteToken: 'q3Plxr4AgKd...',
    contentProvider: { type: 'line' },
    imageSet: { id: 'E005D41A7288F41B65593ED38FF6E9834B046AB36A37921A56BC236F13A91855', index: 1, total: 2 },
  },
});

export const VIDEO = delivery({
  ...REPLY,
  type: 'message',
  message: {
    id: '325708',
    type: 'video',
    quoteToken: 'q3Plxr4AgKd...',
    duration: 60_000,
    contentProvider: {
      type: 'external',
      originalContentUrl: 'https://example.com/original.mp4',
      previewImageUrl: 'https://example.com/preview.jpg',
    },
  },
});

export const FILE = delivery({
  ...REPLY,
  ...inPrivate,
  type: 'message',
  message: { id: '325708', type: 'file', fileName: 'file.txt', fileSize: 2_138 },
});

export const STICKER = delivery({
  ...REPLY,
  ...inPrivate,
  type: 'message',
  message: {
    type: 'sticker',
    id: '1501597916',
    quoteToken: 'q3Plxr4AgKd...',
    stickerId: '52002738',
    packageId: '11537',
    stickerResourceType: 'ANIMATION',
    keywords: ['cony', 'sally', 'Staring'],
  },
});

export const UNSEND = delivery({ type: 'unsend', unsend: { messageId: '325708' } });
export const FOLLOW = delivery({ ...REPLY, ...inPrivate, type: 'follow', follow: { isUnblocked: false } });
export const UNFOLLOW = delivery({ ...inPrivate, type: 'unfollow' });
export const JOIN = delivery({ ...REPLY, source: { type: 'group', groupId: GROUP }, type: 'join' });
export const LEAVE = delivery({ source: { type: 'group', groupId: GROUP }, type: 'leave' });
export const MEMBER_JOINED = delivery({
  ...REPLY,
  source: { type: 'group', groupId: GROUP },
  type: 'memberJoined',
  joined: {
    members: [
      { type: 'user', userId: ANN },
      { type: 'user', userId: BEN },
    ],
  },
});
export const MEMBER_LEFT = delivery({
  source: { type: 'group', groupId: GROUP },
  type: 'memberLeft',
  left: { members: [{ type: 'user', userId: ANN }] },
});
/** With a date that somebody picked in a menu. */
export const POSTBACK = delivery({
  ...REPLY,
  ...inPrivate,
  type: 'postback',
  postback: { data: 'storeId=12345', params: { datetime: '2017-12-25T01:00' } },
});
