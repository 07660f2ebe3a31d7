// What Discord tells → what arrived: by the payloads of its documentation.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { answerTo, interactionArrivals } from '../../../../worker/adapters/discord/interactions/interactions.ts';
import { arrivalsOf, type Context } from '../../../../worker/adapters/discord/parse.ts';
import type { Arrival } from '../../../../worker/sdk/index.ts';
import { BUTTON_PRESS, MESSAGE, SLASH_COMMAND } from '../../../support/accounts/discord-examples.ts';

const BOT = '845027738276462777';
const GUILD = '290926798626357999';
const context: Context = {
  application: '845027738276462632',
  bot: BOT,
  now: 1_700_000_000_000,
  events: [],
  bots: false,
  isAdmin: (guild, user, roles) => guild === GUILD && (user === 'owner' || roles.includes('admin')),
  roleIn: (guild) => (guild === GUILD ? '845027738276462111' : undefined),
  personIn: (channel) => (channel === '645027906669510999' ? '53908099506183680' : undefined),
};
const told = (type: string, data: object, more: Partial<Context> = {}): readonly Arrival[] =>
  arrivalsOf({ type, data: { ...data }, session: 'abc', seq: 7 }, { ...context, ...more });
const only = (arrivals: readonly Arrival[]): Arrival => {
  assert.equal(arrivals.length, 1);
  return arrivals[0] as Arrival;
};
const said = (more: object, changes: Partial<Context> = {}) => {
  const arrival = only(told('MESSAGE_CREATE', { ...MESSAGE, guild_id: GUILD, ...more }, changes));
  assert.ok(arrival.kind === 'message');
  return arrival;
};

describe('messages', () => {
  it('are taken as the documentation prints one', () => {
    assert.deepEqual(said({}), {
      id: '845027738276462632/m/334385199974967042',
      kind: 'message',
      conversation: { id: '290926798999357250', kind: 'group' },
      user: { id: '53908099506183680', name: 'Mason', admin: false },
      sentAt: Date.parse('2017-07-11T17:27:07.299Z'),
      message: '290926798999357250/334385199974967042',
      text: 'Supa Hot',
      addressed: false,
    });
  });

  it('in private are a conversation with their person, spoken to the bot', () => {
    const arrival = said({ guild_id: undefined });

    assert.deepEqual([arrival.conversation, arrival.addressed], [{ id: '@53908099506183680', kind: 'private' }, true]);
  });

  it('are spoken to the bot by a mention, which is no text at the beginning, and by a reply (DISCORD-PARSE-3)', () => {
    const mentions = [{ id: BOT }];
    const first = said({ content: `<@${BOT}>, hello`, mentions });
    const nick = said({ content: `<@!${BOT}> hello`, mentions });
    const later = said({ content: `hello <@${BOT}>`, mentions });
    const reply = said({
      referenced_message: { author: { id: BOT } },
      message_reference: { message_id: '334385199974967000' },
    });

    assert.deepEqual(
      [first.text, nick.text, first.addressed, later.addressed, reply.addressed],
      ['hello', 'hello', true, true, true],
    );
    assert.deepEqual(later.text, [
      { kind: 'text', text: 'hello ' },
      { kind: 'mention', user: { endpoint: '', id: BOT } },
    ]);
    assert.equal(reply.replyTo, '290926798999357250/334385199974967000');
  });

  it('are spoken to the bot by its own role, which is called like it, and by no other one', () => {
    const role = '845027738276462111';
    const by = (id: string, more: object = {}) => said({ content: `<@&${id}> hello`, mention_roles: [id], ...more });

    assert.deepEqual([by(role).text, by(role).addressed], ['hello', true]);
    const other = by('845027738276462112');
    assert.deepEqual([other.text, other.addressed], ['<@&845027738276462112> hello', false]);
    const elsewhere = by(role, { guild_id: '290926798626357998' });
    assert.deepEqual([elsewhere.text, elsewhere.addressed], [`<@&${role}> hello`, false]);
  });

  it('tell whether their person administers, by owner and by role', () => {
    const admins = [
      said({ member: { roles: ['admin'], nick: 'Boss' } }),
      said({ member: { roles: ['other'] } }),
      said({ guild_id: undefined, member: { roles: ['admin'] } }),
    ];

    assert.deepEqual(
      admins.map(({ user }) => [user.name, user.admin]),
      [
        ['Boss', true],
        ['Mason', false],
        ['Mason', false],
      ],
    );
  });

  it('of the bot itself, also by an interaction, are marked', () => {
    const own = [said({ author: { id: BOT } }), said({ application_id: context.application, author: { id: '1' } })];

    assert.deepEqual(
      own.map(({ user }) => user.self),
      [true, true],
    );
  });

  it('of other bots and of webhooks are left out, unless the account wants them (DISCORD-PARSE-4)', () => {
    const bot = { ...MESSAGE, author: { id: '9', username: 'other', bot: true } };
    const webhook = { ...MESSAGE, webhook_id: '8', author: { id: '8', username: 'hook' } };
    const edited = { ...bot, edited_timestamp: '2017-07-11T18:00:00.000000+00:00' };
    const reaction = {
      user_id: '9',
      channel_id: '2',
      message_id: '1',
      emoji: { name: '🔥' },
      member: { user: bot.author },
    };

    const arrivals = (bots: boolean): number =>
      [
        ...told('MESSAGE_CREATE', bot, { bots }),
        ...told('MESSAGE_CREATE', webhook, { bots }),
        ...told('MESSAGE_UPDATE', edited, { bots }),
        ...told('MESSAGE_REACTION_ADD', reaction, { bots }),
      ].length;

    assert.deepEqual([arrivals(false), arrivals(true)], [0, 4]);
  });

  it('hold files by where they lie, without their address', () => {
    const file = {
      id: '999999999999999999',
      filename: 'a.png',
      size: 9,
      content_type: 'image/png; x=1',
      url: 'https://cdn.discordapp.com/x?hm=secret',
    };
    const arrival = said({ content: '', attachments: [file] });

    assert.deepEqual(arrival.files, [
      { id: '290926798999357250/334385199974967042/999999999999999999', name: 'a.png', mime: 'image/png', bytes: 9 },
    ]);
    assert.ok(!JSON.stringify(arrival).includes('secret'));
  });

  it('that are forwarded hold what was said, its files and stickers; a poll its question and answers', () => {
    const file = { id: '999999999999999999', filename: 'a.png', size: 9, content_type: 'image/png' };
    const forwarded = (message: object) =>
      said({
        content: '',
        attachments: [],
        message_reference: { type: 1, message_id: '334385199974967000', channel_id: '290926798999357111' },
        message_snapshots: [{ message: { type: 0, content: '', attachments: [], ...message } }],
      });
    const media = {
      question: { text: 'Lunch?' },
      answers: [
        { answer_id: 1, poll_media: { text: 'pizza' } },
        { answer_id: 2, poll_media: { text: 'sushi' } },
      ],
    };

    const arrivals = [
      forwarded({ content: 'the report', attachments: [file] }),
      forwarded({ attachments: [file] }),
      forwarded({ sticker_items: [{ id: '1', name: 'wave', format_type: 1 }] }),
      said({ content: '', poll: media }),
    ];

    const id = '290926798999357250/334385199974967042/999999999999999999';
    assert.deepEqual(
      arrivals.map(({ text, files, replyTo }) => [text, files?.map((one) => one.id), replyTo]),
      [
        ['the report', [id], undefined],
        ['', [id], undefined],
        [':wave:', undefined, undefined],
        ['Lunch?\n• pizza\n• sushi', undefined, undefined],
      ],
    );
  });

  it('that say nothing, and notes of Discord, are left out; somebody who joined is a member', () => {
    const nothing = [
      told('MESSAGE_CREATE', { ...MESSAGE, content: '' }),
      told('MESSAGE_CREATE', { ...MESSAGE, type: 6 }),
    ];
    const joined = only(told('MESSAGE_CREATE', { ...MESSAGE, type: 7, content: '', guild_id: GUILD }));

    assert.deepEqual(nothing, [[], []]);
    assert.deepEqual([joined.kind, joined.kind === 'member' && joined.who], ['member', '53908099506183680']);
  });
});

describe('changes', () => {
  it('are edits when they say when, and are known by that (DISCORD-PARSE-2)', () => {
    const at = '2017-07-11T18:00:00.000000+00:00';
    const edited = only(told('MESSAGE_UPDATE', { ...MESSAGE, guild_id: GUILD, edited_timestamp: at, content: 'new' }));
    const unfolded = told('MESSAGE_UPDATE', { ...MESSAGE, guild_id: GUILD, embeds: [{}] });

    assert.deepEqual(
      [edited.kind, edited.id, edited.sentAt],
      ['edited', `845027738276462632/e/334385199974967042/${at}`, Date.parse(at)],
    );
    assert.deepEqual(unfolded, []);
  });

  it('are deletions, one or many', () => {
    const one = told('MESSAGE_DELETE', { id: '1', channel_id: '2', guild_id: GUILD });
    const many = told('MESSAGE_DELETE_BULK', { ids: ['3', '4'], channel_id: '2', guild_id: GUILD });
    const hidden = only(told('MESSAGE_DELETE', { id: '1', channel_id: '645027906669510999' }));

    assert.deepEqual(
      [...one, ...many].map((arrival) => arrival.kind === 'deleted' && arrival.message),
      ['2/1', '2/3', '2/4'],
    );
    assert.deepEqual(hidden.conversation, { id: '@53908099506183680', kind: 'private' });
  });

  it('are reactions, known by session and number (DISCORD-PARSE-1), with characters or with an emoji of the server', () => {
    const base = { user_id: '5', channel_id: '2', message_id: '1', guild_id: GUILD };
    const added = only(told('MESSAGE_REACTION_ADD', { ...base, emoji: { id: null, name: '🔥' } }));
    const removed = only(told('MESSAGE_REACTION_REMOVE', { ...base, emoji: { id: '41771983429993937', name: 'LUL' } }));
    const own = only(told('MESSAGE_REACTION_ADD', { ...base, user_id: BOT, emoji: { id: null, name: '🔥' } }));

    assert.deepEqual(
      [added, removed].map((one) => one.kind === 'reaction' && [one.id, one.message, one.emoji, one.on]),
      [
        ['845027738276462632/s/abc/7', '2/1', '🔥', true],
        ['845027738276462632/s/abc/7', '2/1', 'LUL:41771983429993937', false],
      ],
    );
    assert.equal(own.user.self, true);
  });
});

describe('what is not understood', () => {
  it('is left out, unless the account asks for it (DISCORD-PARSE-5)', () => {
    const data = { guild_id: GUILD, user: { id: '9', username: 'ann' }, token: 'hidden' };

    const asked = only(told('GUILD_MEMBER_ADD', data, { events: ['GUILD_MEMBER_ADD'] }));

    assert.deepEqual(told('GUILD_MEMBER_ADD', data), []);
    assert.deepEqual(
      [asked.kind, asked.kind === 'other' && asked.type, asked.user.name, JSON.stringify(asked).includes('hidden')],
      ['other', 'GUILD_MEMBER_ADD', 'ann', false],
    );
  });

  it('never throws: what cannot be read arrives as it came', () => {
    const arrival = only(told('MESSAGE_CREATE', { content: 'no id' }));

    assert.deepEqual([arrival.kind, arrival.kind === 'other' && arrival.type], ['other', 'unreadable']);
  });
});

describe('interactions', () => {
  const asked = { application: context.application, now: context.now };

  it('are commands as the documentation prints one, without their token', () => {
    const arrival = only(interactionArrivals(SLASH_COMMAND, asked));

    assert.deepEqual(arrival, {
      id: '845027738276462632/i/786008729715212338',
      kind: 'command',
      name: 'cardsearch',
      args: { cardname: 'The Gitrog Monster' },
      conversation: { id: '645027906669510667', kind: 'group' },
      user: { id: '53908232506183680', name: 'Mason', admin: true },
      sentAt: Number((786_008_729_715_212_338n >> 22n) + 1_420_070_400_000n),
    });
  });

  it('are presses as the documentation prints one', () => {
    const arrival = only(interactionArrivals(BUTTON_PRESS, asked));

    assert.deepEqual(arrival.kind === 'pressed' && [arrival.token, arrival.message], [
      'click_one',
      '345626669114982999/844397162624450620',
    ]);
  });

  it('hold the line where that is their only option, and a person where it is private', () => {
    const data = { type: 1, name: 'remind', options: [{ type: 3, name: 'arguments', value: '10m tea' }] };
    const { member, guild_id: _, ...rest } = SLASH_COMMAND;
    const arrival = only(interactionArrivals({ ...rest, user: member.user, context: 1, data }, asked));

    assert.deepEqual(arrival.kind === 'command' && [arrival.args, arrival.line], [{}, '10m tea']);
    assert.deepEqual(
      [arrival.conversation, arrival.user.admin],
      [{ id: '@53908232506183680', kind: 'private' }, false],
    );
  });

  it('arrive as they came when they are of another kind, without their token; what completes a word does not', () => {
    const modal = only(interactionArrivals({ ...SLASH_COMMAND, type: 5 }, asked));

    assert.deepEqual([modal.kind, JSON.stringify(modal).includes('A_UNIQUE_TOKEN')], ['other', false]);
    assert.deepEqual(interactionArrivals({ ...SLASH_COMMAND, type: 4 }, asked), []);
    assert.throws(() => interactionArrivals({ type: 2 }, asked), /no id/);
  });

  it('are answered: a command with "thinking…" for its person, a press without a word, a completion with nothing', () => {
    assert.deepEqual(
      [2, 3, 4, 5].map((type) => answerTo({ type })),
      [{ type: 5, data: { flags: 64 } }, { type: 6 }, { type: 8, data: { choices: [] } }, { type: 6 }],
    );
  });
});
