// The XMPP adapter against a real server and people on plain sockets: what is said, both ways. The host is a stub here.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Arrival } from '../../../worker/sdk/index.ts';
import { prosody, prosodyMissing } from '../../support/accounts/prosody.ts';
import { type XmppBot, xmppAccount, xmppBot } from '../../support/accounts/xmpp-account.ts';
import { xmppPerson } from '../../support/accounts/xmpp-person.ts';
import { until } from '../../support/until.ts';

const skip = prosodyMissing();
const ROOM = 'team@rooms.localhost';
const BOT = 'bot@localhost';
const rooms = [{ jid: ROOM }];

const of = <K extends Arrival['kind']>(bot: XmppBot, kind: K): readonly Extract<Arrival, { kind: K }>[] =>
  bot.link.arrivals.filter((one): one is Extract<Arrival, { kind: K }> => one.kind === kind);

describe('XMPP adapter at Prosody', { skip, timeout: 590_000, concurrency: 3 }, () => {
  it('takes what people say, in private and in a room, and knows when it is spoken to', async (t) => {
    const server = await prosody(t);
    const bot = await xmppBot(t, xmppAccount(server.port, { rooms }));
    const ann = await xmppPerson(t, server.port, 'ann');
    await ann.join(ROOM, 'Ann');

    ann.says(BOT, 'in <private> & "more"');
    ann.saysIn(ROOM, 'hello all');
    ann.saysIn(ROOM, 'bot: /ping');
    ann.saysIn(ROOM, 'what would @Bot say?');
    await until(() => bot.messages.length === 4, { what: 'four messages' });

    assert.deepEqual(
      bot.messages.map((one) => [one.conversation.id, one.conversation.kind, one.user.name, one.text, one.addressed]),
      [
        ['ann@localhost', 'private', 'ann', 'in <private> & "more"', true],
        [ROOM, 'group', 'Ann', 'hello all', false],
        [ROOM, 'group', 'Ann', '/ping', true],
        [ROOM, 'group', 'Ann', 'what would @Bot say?', true],
      ],
    );
    // The bot made the room and sees who is who there.
    assert.deepEqual([...new Set(bot.messages.map(({ user }) => user.id))], ['ann@localhost']);
    assert.deepEqual(
      of(bot, 'member').map(({ who, change }) => [who, change]),
      [['ann@localhost', 'joined']],
    );
  });

  it('is sent when the server has it, in a room when the room has said it; what XML cannot hold is left out', async (t) => {
    const server = await prosody(t);
    const bot = await xmppBot(t, xmppAccount(server.port, { rooms }));
    const ann = await xmppPerson(t, server.port, 'ann');
    await ann.join(ROOM);

    const results = [
      await bot.post('k1', 'ann@localhost', 'just <you> & me \u0000\u0007\uD800😀'),
      await bot.post('k2', ROOM, 'all of you'),
      await bot.post('k3', 'nobody@localhost', 'hello?'),
      await bot.post('k4', 'not an address', 'hello?'),
      await bot.post('k5', ROOM, '   '),
    ];
    await until(() => ann.heard(`${ROOM}/bot`).length > 0 && ann.heard(BOT).length > 0, { what: 'both' });

    assert.deepEqual(
      results.map(({ kind }) => kind),
      ['sent', 'sent', 'refused', 'refused', 'refused'],
    );
    assert.deepEqual(ann.heard(BOT), ['just <you> & me \uFFFD😀']);
    assert.deepEqual(ann.heard(`${ROOM}/bot`), ['all of you']);
    assert.equal(bot.messages.length, 0); // its own words are not for it
  });

  it('takes replies, reactions, corrections and removals, and not of what others wrote', async (t) => {
    const server = await prosody(t);
    const bot = await xmppBot(t, xmppAccount(server.port, { rooms }));
    const ann = await xmppPerson(t, server.port, 'ann');
    const bob = await xmppPerson(t, server.port, 'bob');
    await ann.join(ROOM);
    await bob.join(ROOM);
    const sent = await bot.post('k', ROOM, 'Lunch?');
    const asked = sent.kind === 'sent' ? (sent.message ?? '') : '';

    const said = ann.saysIn(ROOM, 'yse');
    await until(() => bot.messages.length === 1, { what: 'the message' });
    const first = bot.messages[0]?.message ?? '';
    ann.saysIn(ROOM, 'yes', `<replace id='${said}' xmlns='urn:xmpp:message-correct:0'/>`);
    ann.saysIn(
      ROOM,
      '> Lunch?\nfine',
      `<reply xmlns='urn:xmpp:reply:0' id='${asked}' to='${ROOM}/bot'/><fallback xmlns='urn:xmpp:fallback:0' for='urn:xmpp:reply:0'><body start='0' end='9'/></fallback>`,
    );
    for (const [i, emojis] of ['<reaction>👍</reaction><reaction>🍕</reaction>', '<reaction>🍕</reaction>'].entries())
      ann.raw(
        `<message to='${ROOM}' type='groupchat' id='r-${i}'><reactions id='${asked}' xmlns='urn:xmpp:reactions:0'>${emojis}</reactions></message>`,
      );
    const removes = (who: typeof ann): void =>
      who.raw(
        `<message to='${ROOM}' type='groupchat' id='d-${who.jid}'><retract id='${first}' xmlns='urn:xmpp:message-retract:1'/></message>`,
      );
    removes(bob);
    removes(ann);
    await until(() => of(bot, 'deleted').length > 0, { what: 'the removal' });

    const [original, corrected, reply] = bot.messages;
    assert.deepEqual([corrected?.kind, corrected?.text, corrected?.message], ['edited', 'yes', original?.message]);
    assert.deepEqual([reply?.text, reply?.replyTo, reply?.addressed], ['fine', asked, true]);
    assert.deepEqual(
      of(bot, 'reaction').map(({ message, emoji, on }) => [message, emoji, on]),
      [
        [asked, '👍', true],
        [asked, '🍕', true],
        [asked, '👍', false],
      ],
    );
    assert.deepEqual(
      of(bot, 'deleted').map(({ message, user }) => [message, user.name]),
      [[first, 'ann']],
    );
  });

  it('edits, removes, reacts, replies, mentions and shows that it types; an edit finds its message also after a restart', async (t) => {
    const server = await prosody(t);
    const account = xmppAccount(server.port, { rooms });
    const before = await xmppBot(t, account);
    const ann = await xmppPerson(t, server.port, 'ann');
    await ann.join(ROOM, 'Ann');
    const sent = await before.post('k1', ROOM, 'Lunch?');
    const message = sent.kind === 'sent' ? (sent.message ?? '') : '';
    ann.saysIn(ROOM, 'yes');
    await until(() => before.messages.length === 1, { what: 'the message' });
    await before.stop();
    const bot = await xmppBot(t, { ...account }, { cursor: before.cursor });
    const conversation = ROOM;
    const text = `Dinner, \u2063ann@localhost\u2063?`;

    const results = [
      await bot.send({ kind: 'edit', key: 'k2', conversation, message, text }),
      await bot.send({
        kind: 'post',
        key: 'k3',
        conversation,
        text: 'so?',
        replyTo: before.messages[0]?.message ?? '',
      }),
      await bot.send({ kind: 'react', key: 'k4', conversation, message, emoji: '🍕', on: true }),
      await bot.send({ kind: 'remove', key: 'k5', conversation, message }),
      await bot.send({ kind: 'typing', key: 'k6', conversation }),
    ];
    const came = (): typeof ann.messages => ann.messages.filter(({ attrs }) => attrs['from'] === `${ROOM}/bot`);
    await until(() => came().some((one) => one.getChild('composing') !== undefined), { what: 'all of it' });

    assert.deepEqual(
      results.map(({ kind }) => kind),
      Array(5).fill('sent'),
    );
    const [post, edit, reply, reaction, removal] = came();
    assert.equal(edit?.getChild('replace')?.attrs['id'], post?.attrs['id']);
    assert.equal(edit?.getChildText('body'), 'Dinner, Ann?');
    assert.deepEqual(
      [edit?.getChild('reference')?.attrs['uri'], edit?.getChild('reference')?.attrs['begin']],
      ['xmpp:ann@localhost', '8'],
    );
    assert.equal(reply?.getChild('reply')?.attrs['id'], before.messages[0]?.message);
    assert.deepEqual(
      [reaction?.getChild('reactions')?.attrs['id'], reaction?.getChild('reactions')?.getChildText('reaction')],
      [message, '🍕'],
    );
    assert.equal(removal?.getChild('retract')?.attrs['id'], message);
  });

  it('removes a post with all of its files; reactions, replies and corrections are of the first message', async (t) => {
    const server = await prosody(t);
    const files = { one: Buffer.from('1'), two: Buffer.from('22') };
    const bot = await xmppBot(t, xmppAccount(server.port, { rooms, fileHosts: ['127.0.0.1'] }), { files });
    const ann = await xmppPerson(t, server.port, 'ann');
    await ann.join(ROOM, 'Ann');
    const file = (id: 'one' | 'two') => ({ id, name: `${id}.png`, mime: 'image/png', bytes: files[id].length });

    for (const conversation of ['ann@localhost', ROOM]) {
      const seen = ann.messages.length;
      const came = (): typeof ann.messages =>
        ann.messages
          .slice(seen)
          .filter(({ attrs }) => attrs['from'] === (conversation === ROOM ? `${ROOM}/bot` : 'bot@localhost/svc'));
      const key = `k-${conversation}`;
      const post = { kind: 'post', key, conversation, text: 'look', files: [file('one'), file('two')] } as const;
      const sent = await bot.send(post);
      const message = sent.kind === 'sent' ? (sent.message ?? '') : '';
      const results = [
        await bot.send({ kind: 'edit', key: `${key}-edit`, conversation, message, text: 'look here' }),
        await bot.send({ kind: 'react', key: `${key}-react`, conversation, message, emoji: '🍕', on: true }),
        await bot.send({ kind: 'post', key: `${key}-reply`, conversation, text: 'so?', replyTo: message }),
        await bot.send({ kind: 'remove', key: `${key}-remove`, conversation, message }),
      ];
      const retracted = (): readonly unknown[] => came().flatMap((one) => one.getChild('retract')?.attrs['id'] ?? []);
      await until(() => retracted().length === 3, { what: `the removals in ${conversation}` });

      assert.deepEqual(results, [{ kind: 'sent', message }, { kind: 'sent' }, results[2], { kind: 'sent' }]);
      const [first, one, two, edit, reaction, reply] = came();
      const idOf = (of: typeof first): unknown =>
        conversation === ROOM ? of?.getChild('stanza-id')?.attrs['id'] : of?.attrs['id'];
      assert.deepEqual(retracted(), [first, one, two].map(idOf));
      assert.deepEqual(
        [
          edit?.getChild('replace')?.attrs['id'],
          reaction?.getChild('reactions')?.attrs['id'],
          reply?.getChild('reply')?.attrs['id'],
        ],
        [first?.attrs['id'], idOf(first), idOf(first)],
      );
    }
  });

  it('hands files over: up through the service of the server, down from where the message says, within the limits', async (t) => {
    const server = await prosody(t);
    const account = xmppAccount(server.port, { rooms, fileHosts: ['127.0.0.1'], maxFileBytes: 5_000 });
    const bytes = Buffer.from('a picture '.repeat(400));
    const files = { pic: bytes, big: Buffer.alloc(200_000), huge: Buffer.alloc(20_000) };
    const bot = await xmppBot(t, account, { files });
    const ann = await xmppPerson(t, server.port, 'ann');
    const file = (id: string) => ({ id, name: `${id} 1.png`, mime: 'image/png', bytes: files[id as 'pic'].length });
    const post = (key: string, id: string) =>
      bot.send({ kind: 'post', key, conversation: 'ann@localhost', text: 'look', files: [file(id)] });

    const results = [await post('k1', 'pic'), await post('k2', 'big'), await post('k3', 'huge')];
    const urls = (): readonly string[] =>
      ann.messages.flatMap((one) => one.getChild('x', 'jabber:x:oob')?.getChildText('url') ?? []);
    await until(() => urls().length === 2, { what: 'the files' });
    for (const url of urls()) ann.says(BOT, url, `<x xmlns='jabber:x:oob'><url>${url}</url></x>`);
    await until(() => bot.messages.length === 2, { what: 'the files back' });
    const [back, tooLarge] = bot.messages.map((one) => one.files?.[0]);
    assert.ok(back && tooLarge);

    assert.deepEqual(
      results.map(({ kind }) => kind),
      ['sent', 'refused', 'sent'],
    );
    assert.deepEqual([bot.messages[0]?.text, back.name, back.mime], ['', 'pic 1.png', 'image/png']);
    assert.deepEqual(Buffer.from(await new Response(await bot.fetch(back)).arrayBuffer()), bytes);
    await assert.rejects(bot.fetch(tooLarge), /maxFileBytes/);
    const strange = { ...back, id: back.id.replace('127.0.0.1', 'localhost') };
    await assert.rejects(bot.fetch(strange), /not https/);
    await assert.rejects(bot.fetch({ ...back, id: 'https://[::ffff:127.0.0.1]/x' }), /private/);
    await assert.rejects(bot.fetch({ ...back, id: 'https://localhost/x' }), /private/);
  });

  it('speaks in private with somebody of a room', async (t) => {
    const server = await prosody(t);
    const bot = await xmppBot(t, xmppAccount(server.port, { rooms }));
    const ann = await xmppPerson(t, server.port, 'ann');
    await ann.join(ROOM, 'Ann');

    ann.says(`${ROOM}/bot`, 'psst', "<x xmlns='http://jabber.org/protocol/muc#user'/>");
    await until(() => bot.messages.length === 1, { what: 'the message' });
    await bot.post('k', `${ROOM}/Ann`, 'what?');
    await until(() => ann.heard(`${ROOM}/bot`).length === 1, { what: 'the answer' });

    const [one] = bot.messages;
    assert.deepEqual(
      [one?.conversation, one?.user.id, one?.addressed],
      [{ id: `${ROOM}/Ann`, kind: 'private' }, `${ROOM}/Ann`, true],
    );
  });
});
