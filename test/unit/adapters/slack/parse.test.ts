// What Slack delivers, read: the examples of its documentation, and what it tells twice, hides or takes back.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parse } from '../../../../worker/adapters/slack/parse.ts';
import type { Arrival } from '../../../../worker/sdk/index.ts';
import * as example from '../../../support/accounts/slack-examples.ts';

const NOW = 1_700_000_000_000;
interface ReadOptions {
  readonly team?: string;
  readonly type?: string;
  readonly bots?: boolean;
}
const read = (payload: object | string, { team, type, bots = true }: ReadOptions = {}) =>
  parse(
    {
      method: 'POST',
      path: '',
      query: {},
      headers: { 'content-type': type ?? 'application/json' },
      body: Buffer.from(typeof payload === 'string' ? payload : JSON.stringify(payload)),
      receivedAt: NOW,
    },
    { bots, ...(team === undefined ? {} : { team }) },
  );
const form = (payload: object): readonly Arrival[] =>
  read(new URLSearchParams({ payload: JSON.stringify(payload) }).toString(), {
    type: 'application/x-www-form-urlencoded',
  });

const BOT = 'U0LAN0Z89';
/** An event as it comes to a bot. */
const told = (event: object, id = 'Ev1') => ({
  ...example.MESSAGE,
  authorizations: [{ team_id: 'T123ABC456', user_id: BOT, is_bot: true }],
  event_id: id,
  event,
});
const said = (text: string, more: object = {}) =>
  told({ type: 'message', channel: 'C1', channel_type: 'channel', user: 'U1', text, ts: '1700000000.000200', ...more });
const one = (payload: object): Arrival => {
  const [arrival, ...others] = read(payload);
  assert.ok(arrival !== undefined && others.length === 0, 'one arrival');
  return arrival;
};
const textOf = (payload: object): unknown => (one(payload) as { readonly text: unknown }).text;

describe('the published examples', () => {
  it('message', () => {
    assert.deepEqual(read(example.MESSAGE), [
      {
        id: 'T123ABC456/C123ABC456/1355517523.000005',
        conversation: { id: 'C123ABC456', kind: 'group' },
        user: { id: 'U123ABC456', name: 'U123ABC456', admin: false },
        sentAt: 1_355_517_523_000,
        kind: 'message',
        message: '1355517523.000005',
        text: 'Hello world',
        addressed: false,
      },
    ]);
  });

  it('message_changed and message_deleted', () => {
    const [edited, deleted] = [one(example.MESSAGE_CHANGED), one(example.MESSAGE_DELETED)];

    assert.deepEqual(
      [edited.kind, edited.id, edited.kind === 'edited' && [edited.message, edited.text]],
      [
        'edited',
        'T123ABC456/C123ABC456/1355517523.000005/edited/1358878755.000001',
        ['1355517523.000005', 'Hello, world!'],
      ],
    );
    assert.deepEqual([deleted.kind, 'message' in deleted && deleted.message], ['deleted', '1358878749.000002']);
  });

  it('app_mention, reaction_added and member_joined_channel', () => {
    const [mention, reaction, member] = [example.APP_MENTION, example.REACTION_ADDED, example.MEMBER_JOINED].map(one);

    assert.deepEqual(mention?.kind === 'message' && [mention.addressed, mention.user.id], [true, 'U061F7AUR']);
    assert.deepEqual(reaction?.kind === 'reaction' && [reaction.message, reaction.emoji, reaction.on], [
      '1464196127.000002',
      '👍',
      true,
    ]);
    assert.deepEqual(member?.kind === 'member' && [member.who, member.change], ['W123ABC456', 'joined']);
  });

  it('block_actions, in the field of a form', () => {
    const [pressed, ...others] = form(example.BLOCK_ACTIONS);

    assert.deepEqual(others, []);
    assert.deepEqual(pressed, {
      id: `T9TK3CUKW/${example.BLOCK_ACTIONS.trigger_id}`,
      conversation: { id: 'CBR2V3XEX', kind: 'group', name: 'review-updates' },
      user: { id: 'UA8RXUSPL', name: 'jtorrance', admin: false },
      sentAt: 1_548_426_417_840,
      kind: 'pressed',
      message: '1548261231.000200',
      token: 'click_me_123',
    });
  });

  it('a slash command', () => {
    const [command] = read(example.SIGNED.body, { type: 'application/x-www-form-urlencoded; charset=utf-8' });

    assert.deepEqual(command, {
      id: 'T1DC2JH3J/398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c',
      conversation: { id: 'G8PSS9T3V', kind: 'group', name: 'foobar' },
      user: { id: 'U2CERLKJA', name: 'roadrunner', admin: false },
      sentAt: NOW,
      kind: 'command',
      name: 'webhook-collect',
      args: {},
      line: '',
    });
  });
});

describe('what Slack delivers', () => {
  it('is one arrival when a mention is told as message and as app_mention', () => {
    const event = {
      channel: 'C1',
      user: 'U1',
      text: `<@${BOT}> /echo hi`,
      ts: '1700000000.000200',
      event_ts: '1700000000.000200',
    };
    const message = one(told({ type: 'message', channel_type: 'channel', ...event }, 'Ev1'));
    const mention = one(told({ type: 'app_mention', ...event }, 'Ev2'));

    assert.deepEqual(mention, message);
    assert.deepEqual(message.kind === 'message' && [message.text, message.addressed], ['/echo hi', true]);
  });

  it('leaves out what other apps say, change and remove, where the account does not want it', () => {
    const spoken = { user: undefined, bot_id: 'B2', app_id: 'A2', ts: '1700000000.000200' };
    const changed = (more: object) =>
      told({ type: 'message', channel: 'C1', ts: '1700000001.000100', message: { ...spoken, text: 'b' }, ...more });
    const payloads = [
      said('x', { subtype: 'bot_message', ...spoken }),
      changed({ subtype: 'message_changed', previous_message: { ...spoken, text: 'a' } }),
      changed({ subtype: 'message_deleted', deleted_ts: spoken.ts, previous_message: { ...spoken, text: 'a' } }),
    ];

    assert.deepEqual(
      payloads.map((payload) => read(payload, { bots: false }).length),
      [0, 0, 0],
    );
    assert.deepEqual(
      payloads.map((payload) => read(payload).map(({ kind }) => kind)),
      [['message'], ['edited'], ['deleted']],
    );
    const ours = { user: 'U9', bot_id: 'B1', app_id: 'A123ABC456' };
    assert.equal(read(said('x', ours), { bots: false })[0]?.user.self, true);
    assert.equal(read(said('x'), { bots: false }).length, 1);
  });

  it('marks what the bot said itself, as a person and as an app, and no other bot', () => {
    const self = (more: object) => one(said('x', more)).user.self === true;

    assert.deepEqual(
      [
        self({ user: BOT }),
        self({ user: 'U9', bot_id: 'B1', app_id: 'A123ABC456' }),
        self({ subtype: 'bot_message', user: undefined, bot_id: 'B1', bot_profile: { app_id: 'A123ABC456' } }),
        self({ subtype: 'bot_message', user: undefined, bot_id: 'B2', username: 'other' }),
        self({}),
      ],
      [true, true, true, false, false],
    );
    assert.equal(
      one(said('x', { subtype: 'bot_message', user: undefined, bot_id: 'B2', username: 'other' })).user.name,
      'other',
    );
  });

  it('names a direct message by its person, and its messages by channel and time', () => {
    const message = one(said('hi', { channel: 'D1', channel_type: 'im' }));
    const reaction = one(
      told({
        type: 'reaction_removed',
        user: 'U1',
        reaction: 'eyes',
        item: { type: 'message', channel: 'D1', ts: '1.2' },
      }),
    );

    assert.deepEqual(
      [message.conversation, reaction.conversation],
      [
        { id: 'U1', kind: 'private' },
        { id: 'U1', kind: 'private' },
      ],
    );
    assert.deepEqual(message.kind === 'message' && [message.message, message.addressed], [
      'D1/1700000000.000200',
      true,
    ]);
    assert.deepEqual(reaction.kind === 'reaction' && [reaction.message, reaction.emoji, reaction.on], [
      'D1/1.2',
      '👀',
      false,
    ]);
  });

  it('says in which thread it was, and to what it answers', () => {
    const inThread = one(said('x', { thread_ts: '1600000000.000100', parent_user_id: BOT }));
    const root = one(said('x', { thread_ts: '1700000000.000200' }));

    assert.equal(inThread.conversation.thread, '1600000000.000100');
    assert.deepEqual(inThread.kind === 'message' && [inThread.replyTo, inThread.addressed], [
      '1600000000.000100',
      true,
    ]);
    assert.deepEqual([root.conversation.thread, 'replyTo' in root], [undefined, false]);
  });

  it('is no edit when only links were unfolded or answers counted, and a deletion when a stone is left', () => {
    const changed = (message: object, before: object) =>
      read(
        told({
          type: 'message',
          subtype: 'message_changed',
          channel: 'C1',
          ts: '2.0',
          message,
          previous_message: before,
        }),
      );
    const message = { type: 'message', user: 'U1', text: 'a', ts: '1.0' };

    assert.deepEqual(changed({ ...message, attachments: [{}], reply_count: 2 }, message), []);
    assert.deepEqual(
      changed({ ...message, text: 'b' }, message).map(({ kind }) => kind),
      ['edited'],
    );
    assert.deepEqual(
      changed({ ...message, subtype: 'tombstone', text: 'This message was deleted.' }, message).map(({ kind }) => kind),
      ['deleted'],
    );
    assert.equal(changed({ ...message, user: BOT, text: 'b' }, message)[0]?.user.self, true);
  });

  it('holds files with their names, kinds and sizes, and none that Slack keeps from us', () => {
    const files = [
      { id: 'F1', name: 'a.png', mimetype: 'image/png', size: 12, url_private_download: 'https://files.slack.com/x' },
      { id: 'F2', mode: 'tombstone' },
    ];
    const message = one(said('see', { subtype: 'file_share', files }));

    assert.deepEqual(message.kind === 'message' && message.files, [
      { id: 'F1', name: 'a.png', mime: 'image/png', bytes: 12 },
    ]);
  });

  it('holds what was forwarded, as a quote behind the own words, and its files', () => {
    const file = { id: 'F2', name: 'plan.pdf', mimetype: 'application/pdf', size: 7 };
    const share = {
      is_msg_unfurl: true,
      is_share: true,
      author_id: 'U9',
      text: 'see <@U7> &amp; me',
      fallback: '[…] x',
      from_url: 'https://x.slack.com/archives/C9/p1',
      files: [file],
    };
    const unfurled = { is_msg_unfurl: true, text: 'another message', fallback: 'another message' };
    const files = ({ files }: { readonly files?: unknown }): unknown => files;

    const bare = one(said('', { attachments: [share] }));
    const commented = one(said('look', { attachments: [share, unfurled] }));

    const quote = { kind: 'quote', text: 'see @U7 & me' };
    assert.deepEqual(textOf(said('', { attachments: [share] })), [quote]);
    assert.deepEqual(textOf(said('look', { attachments: [share, unfurled] })), [
      { kind: 'text', text: 'look\n' },
      quote,
    ]);
    for (const arrival of [bare, commented])
      assert.deepEqual(files(arrival as { files?: unknown }), [
        { id: 'F2', name: 'plan.pdf', mime: 'application/pdf', bytes: 7 },
      ]);
  });

  it('of an app that says all in attachments holds their words', () => {
    const attachments = [
      { pretext: 'New build', title: 'main #12', text: 'failed &gt; 3 tests', fallback: 'x' },
      { fallback: 'only here' },
      { image_url: 'https://a.example/b.png' },
    ];

    const text = textOf(said('', { subtype: 'bot_message', user: undefined, bot_id: 'B9', attachments }));

    assert.equal(text, 'New build\nmain #12\nfailed > 3 tests\nonly here');
  });

  it('reads what stands in angle brackets, and the characters that were escaped', () => {
    assert.equal(textOf(said('1 &lt; 2 &amp;&amp; *x*')), '1 < 2 && *x*');
    assert.equal(textOf(said('see <http://example.com|example.com> in <#C9|general>')), 'see example.com in #general');
    assert.deepEqual(textOf(said('<@U7> and <!here>: <https://a.example/b|this>')), [
      { kind: 'mention', user: { endpoint: '', id: 'U7' } },
      { kind: 'text', text: ' and ' },
      { kind: 'mention', user: 'everyone' },
      { kind: 'text', text: ': ' },
      { kind: 'link', text: 'this', url: 'https://a.example/b' },
    ]);
  });

  it('tells other events and interactions as they came, without the verification token', () => {
    const opened = one(told({ type: 'app_home_opened', user: 'U1', channel: 'D1', tab: 'home', event_ts: '1.0' }));
    const [shortcut] = form({
      type: 'shortcut',
      token: 'secret',
      team: { id: 'T1' },
      user: { id: 'U1' },
      callback_id: 'x',
      trigger_id: '1.2',
    });
    const topic = one(said('set', { subtype: 'channel_topic' }));

    assert.deepEqual(
      [opened, shortcut, topic].map((arrival) => arrival?.kind === 'other' && arrival.type),
      ['app_home_opened', 'shortcut', 'message.channel_topic'],
    );
    assert.doesNotMatch(JSON.stringify([opened, shortcut, topic]), /secret|XXYYZZ/);
    assert.deepEqual(read(said('joined', { subtype: 'channel_join' })), []);
  });

  it('is left to the account of its workspace', () => {
    assert.equal(read(example.MESSAGE, { team: 'T123ABC456' }).length, 1);
    assert.deepEqual(read(example.MESSAGE, { team: 'T000OTHER' }), []);
  });

  it('from another organisation, in a channel that is shared, is of the workspace that the app is installed in', () => {
    const authorizations = [{ enterprise_id: null, team_id: 'T123ABC456', user_id: BOT, is_bot: true }];
    const shared = { ...example.MESSAGE, team_id: 'T0EXTERN', is_ext_shared_channel: true };

    for (const of of [{ authorizations }, { authorizations: [], context_team_id: 'T123ABC456' }]) {
      assert.equal(read({ ...shared, ...of }, { team: 'T123ABC456' }).length, 1);
      assert.deepEqual(read({ ...shared, ...of }, { team: 'T000OTHER' }), []);
    }
  });

  it('throws for what is none of it, and lets nothing reach a prototype', () => {
    for (const body of ['', 'null', '[]', '{}', '{"type":"event_callback"}', '[['.repeat(50_000)])
      assert.throws(() => read(body));
    const raw = read('{"type":"event_callback","event_id":"E","event":{"type":"x","__proto__":{"polluted":1}}}');
    assert.doesNotMatch(JSON.stringify(raw), /polluted/);
    assert.equal(({} as { polluted?: unknown }).polluted, undefined);
  });
});
