import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { answer, arrivalsOf, parse } from '../../../../worker/adapters/telegram/parse.ts';
import type { Arrival, RawRequest } from '../../../../worker/sdk/index.ts';
import { secret } from '../../../../worker/sdk/secret.ts';
import { PUBLISHED } from '../../../support/fake-platforms/telegram/updates.ts';

const ACCOUNT = {
  token: secret('42:AAtoken'),
  mode: 'webhook' as const,
  secrets: [secret('s')],
  username: 'svc_bot',
  apiUrl: 'https://api.telegram.org',
};
const NOW = 1_767_225_600_000;
const request = (body: unknown): RawRequest => ({
  method: 'POST',
  path: '/webhooks/telegram/main',
  query: {},
  headers: {},
  body: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)),
  receivedAt: NOW,
});
const published = (name: keyof typeof PUBLISHED): Arrival => {
  const [arrival, ...others] = parse(request(PUBLISHED[name]), ACCOUNT);
  assert.ok(arrival !== undefined && others.length === 0);
  return arrival;
};
const of = (update: object): readonly Arrival[] =>
  arrivalsOf(
    { update_id: 7, ...update },
    {
      botId: '42',
      username: 'svc_bot',
      now: NOW,
      isAdmin: (_, user) => user === '77',
    },
  );
const ANN = { id: 5, is_bot: false, first_name: 'Ann', username: 'annie' };
const PHOTO = { file_id: 'AgAC', file_unique_id: 'u', width: 1, height: 1, file_size: 9 };
const GROUP = { id: -100_1, type: 'supergroup', title: 'Team' };
const inGroup = (more: object): object => ({ message: { message_id: 9, date: 100, chat: GROUP, from: ANN, ...more } });
const said = (more: object): Extract<Arrival, { readonly addressed?: boolean }> => {
  const [arrival] = of(inGroup(more));
  assert.ok(arrival?.kind === 'message');
  return arrival;
};

describe('parse (Telegram), published updates', () => {
  const PERSON = { id: '1111111', name: 'Test Firstname Test Lastname', admin: false };
  const BASE = {
    id: '42:10000',
    user: PERSON,
    conversation: { id: '1111111', kind: 'private', name: 'Test Firstname Test Lastname' },
    message: '1365',
    sentAt: 1_441_645_532_000,
    addressed: true,
  };

  it('reads every text of the guide', () => {
    assert.deepEqual(published('Message with text'), { ...BASE, kind: 'message', text: '/start' });
    assert.deepEqual(published('Forwarded message'), { ...BASE, kind: 'message', text: '/start' });
    assert.deepEqual(published('Forwarded channel message'), { ...BASE, kind: 'message', text: '/start' });
    assert.deepEqual(published('Message with a reply'), { ...BASE, kind: 'message', text: '/start', replyTo: '1334' });
    assert.deepEqual(published('Edited message'), {
      ...BASE,
      kind: 'edited',
      text: 'Edited text',
      sentAt: 1_441_646_600_000,
    });
    assert.deepEqual(published('Message with text using curl').conversation, {
      id: '1111111',
      kind: 'private',
      name: 'Test Test Lastname',
    });
    assert.deepEqual((published('Message with entities') as { text: unknown }).text, [
      { kind: 'text', text: 'Bold', marks: ['bold'] },
      { kind: 'text', text: ' and ' },
      { kind: 'text', text: 'italics', marks: ['italic'] },
    ]);
  });

  it('reads every file of the guide', () => {
    const id = 'AwADBAADbXXXXXXXXXXXGBdhD2l6_XX';
    const files = { ...BASE, kind: 'message', text: '' };
    assert.deepEqual(published('Message with audio'), {
      ...files,
      files: [{ id, name: 'audio.mp3', mime: 'audio/mpeg', bytes: 3_897_500 }],
    });
    assert.deepEqual(published('Voice message'), {
      ...files,
      files: [{ id, name: 'voice.ogg', mime: 'audio/ogg', bytes: 23_000 }],
    });
    assert.deepEqual(published('Message with a document'), {
      ...files,
      files: [{ id, name: 'Testfile.pdf', mime: 'application/pdf', bytes: 536_392 }],
    });
  });

  it('keeps whole what only Telegram has', () => {
    for (const [name, type] of [
      ['Inline query', 'inline_query'],
      ['Chosen inline query', 'chosen_inline_result'],
      ['Callback query', 'callback_query'],
    ] as const) {
      const arrival = published(name);
      assert.ok(arrival.kind === 'other', name);
      assert.equal(arrival.type, type);
      assert.deepEqual(arrival.raw, { [type]: (PUBLISHED[name] as Record<string, unknown>)[type] });
      assert.equal(arrival.conversation.id, '1111111');
    }
  });

  it('takes a pressed button, and answers it in the acknowledgement', () => {
    const update = {
      update_id: 8,
      callback_query: {
        id: 'q1',
        from: ANN,
        chat_instance: 'c',
        data: 'tok',
        message: { message_id: 3, date: 0, chat: GROUP },
      },
    };

    const [pressed] = parse(request(update), ACCOUNT);

    assert.deepEqual(pressed, {
      id: '42:8',
      kind: 'pressed',
      message: '3',
      token: 'tok',
      user: { id: '5', name: 'Ann', admin: false },
      conversation: { id: '-1001', kind: 'group', name: 'Team' },
      sentAt: NOW,
    });
    assert.deepEqual(answer(request(update)), { json: { method: 'answerCallbackQuery', callback_query_id: 'q1' } });
    assert.deepEqual(answer(request(PUBLISHED['Message with text'])), {});
  });

  it('throws for what is no update, so that it is kept for an operator', () => {
    for (const body of ['', 'null', '[]', '{}', '{"update_id":"1"}', '{"update_id":1.5}', '{', '['.repeat(50_000)])
      assert.throws(() => parse(request(body), ACCOUNT), body.slice(0, 20));
  });
});

describe('arrivalsOf (Telegram)', () => {
  it('knows when a group speaks to the bot, and takes its name off', () => {
    const mention = (offset: number, length = 8) => ({ type: 'mention', offset, length });
    const cases: readonly [object, string, boolean][] = [
      [{ text: 'hello' }, 'hello', false],
      [{ text: '@svc_bot: hello', entities: [mention(0)] }, 'hello', true],
      [{ text: '@SVC_Bot hello', entities: [mention(0)] }, 'hello', true],
      [{ text: 'ask @svc_bot', entities: [mention(4)] }, 'ask @svc_bot', true],
      [{ text: '@svc_bot2 hi', entities: [mention(0, 9)] }, '@svc_bot2 hi', false],
      [{ text: '/ping@svc_bot now', entities: [{ type: 'bot_command', offset: 0, length: 13 }] }, '/ping now', true],
      [
        { text: '/ping@other_bot', entities: [{ type: 'bot_command', offset: 0, length: 15 }] },
        '/ping@other_bot',
        false,
      ],
      [{ text: '/ping', entities: [{ type: 'bot_command', offset: 0, length: 5 }] }, '/ping', false],
      [{ text: 'yes', reply_to_message: { message_id: 1, from: { id: 42 } } }, 'yes', true],
      [{ text: 'yes', reply_to_message: { message_id: 1, from: { id: 6 } } }, 'yes', false],
    ];
    for (const [more, text, addressed] of cases) {
      const arrival = said(more);
      assert.deepEqual([arrival.text, arrival.addressed], [text, addressed], JSON.stringify(more));
    }
  });

  it('moves entities with the text', () => {
    const entities = [
      { type: 'mention', offset: 0, length: 8 },
      { type: 'bold', offset: 9, length: 2 },
    ];
    assert.deepEqual(said({ text: '@svc_bot hi', entities }).text, [{ kind: 'text', text: 'hi', marks: ['bold'] }]);
  });

  it('takes an address without a scheme for what was typed: Telegram alone made a link of it', () => {
    const entities = [
      { type: 'url', offset: 6, length: 11 },
      { type: 'url', offset: 22, length: 17 },
    ];
    assert.deepEqual(said({ text: '/echo example.org and https://x.example', entities }).text, [
      { kind: 'text', text: '/echo example.org and ' },
      { kind: 'link', text: 'https://x.example', url: 'https://x.example' },
    ]);
    assert.equal(
      said({ text: 'see example.org', entities: [{ type: 'url', offset: 4, length: 11 }] }).text,
      'see example.org',
    );
  });

  it('reads links, quotes, code, mentions by id and nested marks; counts UTF-16', () => {
    const text = '😀 see docs now q x';
    const entities = [
      { type: 'bold', offset: 3, length: 8 },
      { type: 'italic', offset: 3, length: 3 },
      { type: 'text_link', offset: 7, length: 4, url: 'https://x.example' },
      { type: 'blockquote', offset: 16, length: 1 },
      { type: 'text_mention', offset: 18, length: 1, user: ANN },
      { type: 'pre', offset: 900, length: 1 },
    ];
    assert.deepEqual(said({ text, entities }).text, [
      { kind: 'text', text: '😀 ' },
      { kind: 'text', text: 'see', marks: ['bold', 'italic'] },
      { kind: 'text', text: ' ', marks: ['bold'] },
      { kind: 'link', text: 'docs', url: 'https://x.example' },
      { kind: 'text', text: ' now ' },
      { kind: 'quote', text: 'q' },
      { kind: 'text', text: ' ' },
      { kind: 'mention', user: { endpoint: '', id: '5' } },
    ]);
  });

  it('has a topic as thread, and no reply to the message that opened it', () => {
    const opened = { message_id: 4, from: { id: 42 }, forum_topic_created: { name: 'News' } };
    const inTopic = said({ text: 'a', is_topic_message: true, message_thread_id: 4, reply_to_message: opened });
    assert.equal(inTopic.conversation.thread, 'topic:4');
    assert.deepEqual([inTopic.replyTo, inTopic.addressed], [undefined, false]);
    assert.equal(said({ text: 'a', message_thread_id: 4 }).conversation.thread, undefined);
  });

  it('has who writes to a channel in private as thread, each apart', () => {
    const chat = { id: -100_7, type: 'supergroup', title: 'News', is_direct_messages: true };
    const threads = [5, 6].map((topic_id) => {
      const from = { ...ANN, id: topic_id };
      return said({ chat, from, text: 'hi', direct_messages_topic: { topic_id, user: from } }).conversation.thread;
    });

    assert.deepEqual(threads, ['direct:5', 'direct:6']);
  });

  it('keeps what only Telegram has in its topic, and with who sent it', () => {
    const location = { latitude: 1, longitude: 2 };
    const [inTopic] = of(inGroup({ location, is_topic_message: true, message_thread_id: 4 }));
    const channel = { id: -100_9, type: 'channel', title: 'News' };
    const [asChannel] = of(
      inGroup({ location, sender_chat: channel, from: { id: 136_817_688, is_bot: true, first_name: 'Channel' } }),
    );
    const [pressed] = of({
      callback_query: {
        id: '1',
        from: ANN,
        chat_instance: 'x',
        game_short_name: 'g',
        message: { message_id: 3, date: 1, chat: GROUP, is_topic_message: true, message_thread_id: 4 },
      },
    });

    assert.deepEqual(
      [inTopic, asChannel, pressed].map((one) => [one?.kind, one?.conversation.thread, one?.user.id]),
      [
        ['other', 'topic:4', '5'],
        ['other', undefined, '-1009'],
        ['other', 'topic:4', '5'],
      ],
    );
  });

  it('marks its own messages, and names anonymous administrators and channels', () => {
    assert.equal(said({ text: 'a', from: { id: 42, is_bot: true, first_name: 'svc' } }).user.self, true);
    const anonymous = said({ text: 'a', from: { id: 1_087_968_824, first_name: 'Group' }, sender_chat: GROUP });
    assert.deepEqual(anonymous.user, { id: '-1001', name: 'Team', admin: true });
    const channel = { id: -100_2, type: 'channel', title: 'News' };
    const [post] = of({ channel_post: { message_id: 2, date: 1, chat: channel, text: 'x' } });
    assert.deepEqual(post?.user, { id: '-1002', name: 'News', admin: true });
  });

  it('hears its name at the beginning also where that is set off with what follows', () => {
    // Of two that begin at one place the longer one comes first.
    const bold = { type: 'bold', offset: 0, length: 13 };
    const named = said({ text: '@svc_bot ping', entities: [bold, { type: 'mention', offset: 0, length: 8 }] });
    assert.deepEqual(named.text, [{ kind: 'text', text: 'ping', marks: ['bold'] }]);
    const command = [
      { ...bold, length: 18 },
      { type: 'bot_command', offset: 0, length: 13 },
    ];
    assert.deepEqual(said({ text: '/ping@svc_bot fast', entities: command }).text, [
      { kind: 'text', text: '/ping fast', marks: ['bold'] },
    ]);
  });

  it('names administrators where somebody wants something of the bot', () => {
    const boss = { ...ANN, id: 77 };
    const entities = [{ type: 'bot_command', offset: 0, length: 5 }];
    assert.deepEqual(
      [
        said({ text: '/stop', entities, from: boss }),
        said({ text: '/stop', entities }),
        said({ text: 'hi', from: boss }),
        // A file with a command as its caption (Bot API, Message: caption_entities).
        said({ caption: '/stop', caption_entities: entities, photo: [PHOTO], from: boss }),
        said({ caption: 'hi', photo: [PHOTO], from: boss }),
        // Telegram marks no command that begins with another sign (`commands.prefix`), and none where the bot is answered.
        said({ text: '!stop', from: boss }),
        said({ text: 'stop', from: boss, reply_to_message: { message_id: 3, from: { id: 42, is_bot: true } } }),
        said({ text: 'stop', from: boss, reply_to_message: { message_id: 3, from: ANN } }),
      ].map(({ user }) => user.admin),
      [true, false, false, true, false, true, true, false],
    );
  });

  it('gives each change of reactions and members an id of its own', () => {
    const emoji = (one: string) => ({ type: 'emoji', emoji: one });
    const reaction = {
      chat: GROUP,
      message_id: 9,
      user: ANN,
      date: 1,
      old_reaction: [emoji('👎')],
      new_reaction: [emoji('👍')],
    };
    assert.deepEqual(
      of({ message_reaction: reaction }).map(
        (one) => one.kind === 'reaction' && [one.id, one.emoji, one.on, one.message],
      ),
      [
        ['42:7', '👎', false, '9'],
        ['42:7.1', '👍', true, '9'],
      ],
    );
    const joined = of(inGroup({ new_chat_members: [ANN, { ...ANN, id: 6 }] }));
    assert.deepEqual(
      joined.map((one) => one.kind === 'member' && [one.id, one.who, one.change]),
      [
        ['42:7', '5', 'joined'],
        ['42:7.1', '6', 'joined'],
      ],
    );
    const [left] = of(inGroup({ left_chat_member: ANN }));
    assert.equal(left?.kind === 'member' && left.change, 'left');
  });

  it('never throws: what has another form than documented is kept', () => {
    for (const update of [{}, { message: null }, { message: {} }, { callback_query: 3 }, { message_reaction: {} }]) {
      const [arrival] = of(update);
      assert.equal(arrival?.kind, 'other', JSON.stringify(update));
      assert.equal(arrival?.id, '42:7');
    }
  });
});
