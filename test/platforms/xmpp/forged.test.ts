// What others than the server itself may not make an account of XMPP believe: archives, ids, addresses, times, refusals.
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import type { XmlElement } from '@xmpp/client';
import { type XmppBot, xmppAccount, xmppBot } from '../../support/accounts/xmpp-account.ts';
import { type FakeXmpp, fakeXmpp } from '../../support/fake-platforms/xmpp-server.ts';
import { until } from '../../support/until.ts';

const ROOM = 'team@rooms.localhost';
const NO_ARCHIVE =
  "<query xmlns='http://jabber.org/protocol/disco#info'><feature var='http://jabber.org/protocol/disco#info'/></query>";
const SEEN = JSON.stringify({
  v: 1,
  jid: 'bot@localhost',
  seen: { 'bot@localhost': { id: 'a0', at: 1 }, [ROOM]: { id: 'r0', at: 1 } },
});

interface Archives {
  /** What is written before an archive answers, by its address. */
  readonly [place: string]: (queryid: string) => string;
}

interface Forged {
  readonly archives?: Archives;
  /** Neither account nor room keep one. */
  readonly hasNone?: true;
  readonly answer?: (stanza: XmlElement) => string | undefined;
  /** Before anything else. */
  readonly misbehave?: (stanza: XmlElement) => string | undefined;
}

const result = (
  of: { readonly from: string; readonly queryid: string; readonly id: string },
  message: string,
): string =>
  `<message from='${of.from}' to='bot@localhost/svc' type='groupchat'><result xmlns='urn:xmpp:mam:2' queryid='${of.queryid}' id='${of.id}'><forwarded xmlns='urn:xmpp:forward:0'><delay xmlns='urn:xmpp:delay' stamp='2026-01-02T03:04:05Z'/>${message}</forwarded></result></message>`;
const inRoom = (nick: string, text: string, more = ''): string =>
  `<message xmlns='jabber:client' from='${ROOM}/${nick}' type='groupchat' id='o-${text}'><body>${text}</body>${more}</message>`;
const item = (jid: string): string =>
  `<x xmlns='http://jabber.org/protocol/muc#user'><item affiliation='none' role='participant' jid='${jid}'/></x>`;

async function inTheRoom(
  t: TestContext,
  { archives = {}, hasNone, answer, misbehave }: Forged,
): Promise<[FakeXmpp, XmppBot]> {
  const server = await fakeXmpp(t, {
    answer: (stanza) => {
      const { id, to = 'bot@localhost' } = stanza.attrs;
      const bad = misbehave?.(stanza);
      if (bad !== undefined) return bad;
      if (stanza.name === 'presence' && to.startsWith(ROOM))
        return `<presence from='${to}'><x xmlns='http://jabber.org/protocol/muc#user'><item affiliation='none' role='participant'/><status code='110'/></x></presence>`;
      if (hasNone && stanza.getChild('query', 'http://jabber.org/protocol/disco#info') !== undefined)
        return `<iq type='result' id='${id}' from='${to}'>${NO_ARCHIVE}</iq>`;
      const query = stanza.getChild('query', 'urn:xmpp:mam:2');
      const told = query && archives[to]?.(query.attrs['queryid'] ?? '');
      if (told !== undefined)
        return `${told}<iq type='result' id='${id}' from='${to}'><fin xmlns='urn:xmpp:mam:2' complete='true'/></iq>`;
      return answer?.(stanza);
    },
  });
  const bot = await xmppBot(t, xmppAccount(server.port, { rooms: [{ jid: ROOM }] }), { cursor: SEEN });
  return [server, bot];
}

const isAsked = (stanza: XmlElement): boolean => stanza.getChild('query', 'urn:xmpp:mam:2') !== undefined;
const texts = ({ messages }: XmppBot): readonly string[] => messages.map(({ text }) => String(text));

describe('XMPP adapter and what is forged', { timeout: 590_000, concurrency: 3 }, () => {
  it('takes no archive of a room from somebody in it', async (t) => {
    const [, bot] = await inTheRoom(t, {
      archives: {
        [ROOM]: (queryid) =>
          result({ from: `${ROOM}/mallory`, queryid, id: 'r1' }, inRoom('ann', 'forged', item('ann@localhost'))) +
          result({ from: ROOM, queryid, id: 'r2' }, inRoom('ann', 'said')),
      },
    });

    assert.deepEqual(texts(bot), ['said']);
  });

  it('takes from the archive of a room what was said in that room, and nothing else', async (t) => {
    const [, bot] = await inTheRoom(t, {
      archives: {
        [ROOM]: (queryid) =>
          [
            "<message xmlns='jabber:client' from='ann@localhost/x' type='chat'><body>as ann</body></message>",
            "<message xmlns='jabber:client' from='other@rooms.localhost/ann' type='groupchat'><body>elsewhere</body></message>",
            inRoom('ann', 'said'),
          ]
            .map((message, i) => result({ from: ROOM, queryid, id: `r${i + 1}` }, message))
            .join(''),
        'bot@localhost': (queryid) =>
          [
            inRoom('ann', 'said'),
            "<message xmlns='jabber:client' from='ann@localhost/x' type='error'><body>came back</body></message>",
            "<message xmlns='jabber:client' from='ann@localhost/x' type='chat'><body>in private</body></message>",
          ]
            .map((message, i) => result({ from: 'bot@localhost', queryid, id: `a${i + 1}` }, message))
            .join(''),
      },
    });

    assert.deepEqual([...texts(bot)].sort(), ['in private', 'said']);
  });

  it('believes the real address that the archive put to a message, not one that was in it before', async (t) => {
    const [, bot] = await inTheRoom(t, {
      archives: {
        [ROOM]: (queryid) =>
          result(
            { from: ROOM, queryid, id: 'r1' },
            inRoom('mallory', 'let me in', item('ann@localhost/x') + item('mallory@localhost/x')),
          ),
      },
    });

    assert.deepEqual(
      bot.messages.map(({ user }) => user.id),
      ['mallory@localhost'],
    );
  });

  it('takes ids of an archive from a place that has one alone, and no correction by who repeats an id', async (t) => {
    const [server, bot] = await inTheRoom(t, { hasNone: true });
    const id = (by: string): string => `<stanza-id xmlns='urn:xmpp:sid:0' by='${by}' id='chosen'/>`;
    server.send(inRoom('ann', 'one'));
    server.send(inRoom('mallory', 'two', id(ROOM)));
    server.send(
      `<message from='${ROOM}/mallory' type='groupchat' id='o-one'><body>three</body></message>` +
        `<message from='${ROOM}/mallory' type='groupchat' id='o-4'><body>four</body><replace xmlns='urn:xmpp:message-correct:0' id='o-one'/></message>` +
        inRoom('ann', 'five'),
    );
    await until(() => texts(bot).includes('five'), { what: 'the last message' });

    assert.deepEqual(texts(bot), ['one', 'two', 'three', 'five']);
    assert.equal(
      bot.messages.some(({ id: delivery, message }) => `${delivery} ${message}`.includes('chosen')),
      false,
    );
  });

  it('takes no time that is yet to come', async (t) => {
    const [server, bot] = await inTheRoom(t, { hasNone: true });
    server.send(inRoom('mallory', 'late', "<delay xmlns='urn:xmpp:delay' stamp='2999-01-01T00:00:00Z'/>"));
    await until(() => texts(bot).includes('late'), { what: 'the message' });

    assert.ok((bot.messages[0]?.sentAt ?? Infinity) <= Date.now());
    assert.ok(JSON.parse(bot.cursor ?? '').seen[ROOM].at <= Date.now());
  });

  it('takes a post for refused when the place says so that it went to, not somebody who saw its id', async (t) => {
    const [, bot] = await inTheRoom(t, {
      answer: (stanza) => {
        if (stanza.name !== 'message') return undefined;
        const { id } = stanza.attrs;
        return (
          ['mallory@localhost/x', `${ROOM}/mallory`]
            .map(
              (from) =>
                `<message type='error' id='${id}' from='${from}'><error type='cancel'><forbidden xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/></error></message>`,
            )
            .join('') + `<message type='groupchat' id='${id}' from='${ROOM}/bot'><body>hi</body></message>`
        );
      },
    });

    assert.equal((await bot.post('k1', ROOM, 'hi')).kind, 'sent');
  });

  it('takes removals by a moderator from the room itself alone, in both forms of XEP-0425', async (t) => {
    const [server, bot] = await inTheRoom(t, {});
    const removed = (): readonly unknown[] =>
      bot.link.arrivals.flatMap((one) => (one.kind === 'deleted' ? [[one.message, one.user.id]] : []));
    const now = (from: string, id: string): string =>
      `<message from='${from}' type='groupchat' id='x-${id}'><retract xmlns='urn:xmpp:message-retract:1' id='${id}'><moderated xmlns='urn:xmpp:message-moderate:1' by='${ROOM}/boss'/><reason>spam</reason></retract><body>removed</body></message>`;
    const before = `<message from='${ROOM}' type='groupchat' id='x-2'><apply-to xmlns='urn:xmpp:fasten:0' id='s2'><moderated xmlns='urn:xmpp:message-moderate:0' by='${ROOM}/boss'><retract xmlns='urn:xmpp:message-retract:0'/></moderated></apply-to></message>`;
    server.send(
      inRoom('ann', 'spam', `<stanza-id xmlns='urn:xmpp:sid:0' by='${ROOM}' id='s1'/>`) +
        now(`${ROOM}/eve`, 's1') +
        now('elsewhere@rooms.localhost', 's1') +
        now(ROOM, 's1') +
        before +
        inRoom('ann', 'last'),
    );

    await until(() => texts(bot).includes('last'), { what: 'the last' });
    assert.deepEqual(removed(), [
      ['s1', `${ROOM}/boss`],
      ['s2', `${ROOM}/boss`],
    ]);
  });

  it('takes the same words twice from who gives no ids, where there is no archive', async (t) => {
    const [server, bot] = await inTheRoom(t, { hasNone: true });
    const alarm = (stamp: string): string =>
      `<message from='ann@localhost/x' type='chat'><body>alarm</body><delay xmlns='urn:xmpp:delay' stamp='${stamp}'/></message>`;
    server.send(alarm('2026-01-01T00:00:00Z'));
    await until(() => texts(bot).length === 1, { what: 'the first' });
    server.send(alarm('2026-01-01T00:00:00Z') + alarm('2026-01-02T00:00:00Z') + inRoom('ann', 'last'));
    await until(() => texts(bot).includes('last'), { what: 'the last' });

    assert.deepEqual(texts(bot), ['alarm', 'alarm', 'last']);
  });

  it('stores at once what no archive has, while it reads one', async (t) => {
    const stored: string[] = [];
    const server = await fakeXmpp(t, {
      answer: (stanza) =>
        isAsked(stanza)
          ? "<message from='ann@localhost/x' type='chat' id='m1'><body>not archived</body></message>"
          : undefined,
    });
    const bot = xmppBot(t, xmppAccount(server.port), {
      cursor: SEEN,
      store: async (arrivals) =>
        void stored.push(...arrivals.map((one) => ('text' in one ? String(one.text) : one.kind))),
    });
    bot.catch(() => {});

    await until(() => stored.includes('not archived'), { what: 'the message, before the archive answers' });

    const id = server.stanzas.find(isAsked)?.attrs['id'];
    server.send(`<iq type='result' id='${id}'><fin xmlns='urn:xmpp:mam:2' complete='true'/></iq>`);
    await bot;
  });

  it('degrades the account while the archive of a room that let it in later cannot be read, and reads it then', async (t) => {
    let [isClosed, isBroken] = [true, true];
    const [server, bot] = await inTheRoom(t, {
      archives: {
        [ROOM]: (queryid) => result({ from: ROOM, queryid, id: 'r1' }, inRoom('ann', 'missed', item('ann@localhost'))),
      },
      misbehave: (stanza) => {
        const { id, to = '' } = stanza.attrs;
        const error = (name: string, condition: string) =>
          `<${name} type='error' id='${id}' from='${to}'><error type='cancel'><${condition} xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/></error></${name}>`;
        if (isClosed && stanza.name === 'presence' && to.startsWith(ROOM))
          return error('presence', 'service-unavailable');
        return isBroken && to === ROOM && isAsked(stanza) ? error('iq', 'internal-server-error') : undefined;
      },
    });
    const closed = bot.link.trouble;

    isClosed = false;
    await until(() => /archive/.test(bot.link.trouble ?? ''), { what: 'the archive to be the trouble' });
    const before = texts(bot);
    isBroken = false;
    await until(() => bot.link.trouble === undefined, { what: 'the end of the trouble' });

    assert.match(closed ?? '', /not in team@/);
    assert.deepEqual([before, texts(bot)], [[], ['missed']]);
    assert.ok(server.stanzas.filter(isAsked).length > 1);
  });

  it('reads the archive of a room also when another one does not go on', async (t) => {
    const stored: string[] = [];
    const server = await fakeXmpp(t, {
      answer: (stanza) => {
        const { id, to = 'bot@localhost' } = stanza.attrs;
        if (stanza.name === 'presence' && to.startsWith(ROOM))
          return `<presence from='${to}'><x xmlns='http://jabber.org/protocol/muc#user'><status code='110'/></x></presence>`;
        const queryid = stanza.getChild('query', 'urn:xmpp:mam:2')?.attrs['queryid'];
        if (queryid === undefined) return undefined;
        const message =
          to === ROOM
            ? inRoom('ann', 'said')
            : "<message xmlns='jabber:client' from='ann@localhost/x' type='chat'><body>again</body></message>";
        return `${result({ from: to, queryid, id: 'same' }, message)}<iq type='result' id='${id}' from='${to}'><fin xmlns='urn:xmpp:mam:2' complete='${to === ROOM}'/></iq>`;
      },
    });
    const bot = xmppBot(t, xmppAccount(server.port, { rooms: [{ jid: ROOM }] }), {
      cursor: SEEN,
      store: async (arrivals) =>
        void stored.push(...arrivals.map((one) => ('text' in one ? String(one.text) : one.kind))),
    });
    bot.catch(() => {});

    await until(() => stored.includes('said'), { what: 'what was said in the room' });
  });
});
