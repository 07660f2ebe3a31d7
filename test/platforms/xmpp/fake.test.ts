// The scripted XMPP server: first driven by the client library alone, then the adapter at what a real server cannot be made to do.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, it } from 'node:test';
import { client, type XmlElement, xml } from '@xmpp/client';
import { account as properties } from '../../../worker/adapters/xmpp/config.ts';
import { TIMING } from '../../../worker/adapters/xmpp/connection/session.ts';
import { createXmpp } from '../../../worker/adapters/xmpp/index.ts';
import { secret } from '../../../worker/sdk/secret.ts';
import { definitionOf } from '../../support/accounts/adapter-link.ts';
import { xmppAccount, xmppBot } from '../../support/accounts/xmpp-account.ts';
import { type FakeXmpp, fakeXmpp } from '../../support/fake-platforms/xmpp-server.ts';
import { until } from '../../support/until.ts';

const said = (id: string, text: string, from = 'ann@localhost'): string =>
  `<message from='${from}/x' to='bot@localhost' type='chat' id='o-${id}'><body>${text}</body><stanza-id xmlns='urn:xmpp:sid:0' by='bot@localhost' id='${id}'/></message>`;
const posts = (server: FakeXmpp): readonly XmlElement[] => server.stanzas.filter(({ name }) => name === 'message');

describe('scripted XMPP server', { timeout: 590_000 }, () => {
  it('is one to the client library: login, session, messages both ways, a refused password', async (t) => {
    const server = await fakeXmpp(t, { waiting: [said('a1', 'hello')] });
    const open = async (password: string) => {
      const entity = client({
        service: `xmpp://127.0.0.1:${server.port}`,
        domain: 'localhost',
        credentials: (authenticate, [mechanism = '']) => authenticate({ username: 'bot', password }, mechanism),
      });
      entity.reconnect.stop();
      t.after(() => (entity.socket as { destroy?(): void } | null)?.destroy?.());
      const errors: Error[] = [];
      const messages: XmlElement[] = [];
      entity.on('error', (error: Error) => errors.push(error));
      entity.on('stanza', (stanza: XmlElement) => stanza.name === 'message' && messages.push(stanza));
      await entity.connect(`xmpp://127.0.0.1:${server.port}`);
      await entity.open({ domain: 'localhost' });
      return { entity, errors, messages };
    };
    const { entity, messages } = await open('pw-bot');
    await until(() => entity.status === 'online' && entity.streamManagement.enabled, { what: 'the session' });
    const acknowledged: XmlElement[] = [];
    entity.streamManagement.on('ack', (stanza) => acknowledged.push(stanza));
    await entity.send(xml('presence'));
    await entity.send(xml('message', { to: 'ann@localhost', id: 'm1' }, xml('body', {}, 'hi')));
    await until(() => acknowledged.length === 2 && messages.length === 1, { what: 'both ways' });
    const wrong = await open('other');
    await until(() => wrong.errors.length > 0, { what: 'the refusal' });

    assert.equal(posts(server)[0]?.getChildText('body'), 'hi');
    assert.equal((wrong.errors[0] as Error & { condition?: string }).condition, 'not-authorized');
  });

  it('outlives who says goodbye before a stream has begun, as a client that leaves while it logs in', async (t) => {
    const server = await fakeXmpp(t);
    const leaving = connect(server.port, '127.0.0.1').on('error', () => {});

    leaving.resume().write('</stream:stream>');

    await once(leaving, 'close');
  });
});

describe('XMPP adapter at a server that misbehaves', { timeout: 590_000, concurrency: 3 }, () => {
  it('reads characters that come in pieces', async (t) => {
    let isQuiet = false;
    const server = await fakeXmpp(t, {
      answer: ({ name }) => {
        isQuiet = name === 'r'; // behind all that it says, the client asks whether it arrived
        return undefined;
      },
    });
    const bot = await xmppBot(t, xmppAccount(server.port));
    await until(() => isQuiet, { what: 'nothing to answer in the middle of a stanza' });
    const bytes = Buffer.from(said('a1', 'Grüße 😀'));
    for (const byte of bytes) {
      server.send(Uint8Array.of(byte));
      await new Promise((resolve) => setImmediate(resolve));
    }
    await until(() => bot.messages.length === 1, { what: 'the message' });

    assert.equal(bot.messages[0]?.text, 'Grüße 😀');
  });

  for (const [what, text] of [
    ['no XML', '<message><body></message></body>'],
    ['an entity that there is not', "<message from='ann@localhost/x'><body>&boom;</body></message>"],
    ['a character that XML forbids', "<message from='ann@localhost/x'><body>&#1;</body></message>"],
    ['a stanza without an end', `<message from='ann@localhost/x'><body>${'x'.repeat(3 * 1_024 * 1_024)}`],
  ] as const)
    it(`ends the connection over ${what}, and does no other harm`, async (t) => {
      const server = await fakeXmpp(t);
      const bot = await xmppBot(t, xmppAccount(server.port));

      server.send(text);

      assert.match((await bot.ended)?.message ?? '', /connection lost/);
      assert.equal((await bot.ended)?.code, undefined);
      assert.equal(bot.messages.length, 0);
      assert.equal((await xmppBot(t, xmppAccount(server.port))).link.isOnline, true);
    });

  it('leaves out what it does not understand, and what nobody may say', async (t) => {
    const server = await fakeXmpp(t);
    const bot = await xmppBot(t, xmppAccount(server.port));
    for (const text of [
      '<message/>',
      "<message from='ann@localhost/x' type='groupchat'><body>no room of ours</body></message>",
      "<message from='ann@localhost/x'><sent xmlns='urn:xmpp:carbons:2'><forwarded xmlns='urn:xmpp:forward:0'><message from='bot@localhost'><body>copy</body></message></forwarded></sent></message>",
      "<message from='mallory@localhost'><result xmlns='urn:xmpp:mam:2' queryid='q1' id='1'><forwarded xmlns='urn:xmpp:forward:0'><message from='ann@localhost'><body>forged</body></message></forwarded></result></message>",
      "<message from='bot@localhost/other'><body>my own</body></message>",
      "<presence from='ann@localhost/x' type='subscribe'/>",
      said('a1', 'last'),
    ])
      server.send(text);
    await until(() => bot.messages.length > 0, { what: 'the message' });

    assert.deepEqual(
      bot.messages.map(({ text }) => text),
      ['last'],
    );
  });

  it('counts anew in a session that began along with the login, because the former one was gone (XEP-0386)', async (t) => {
    const server = await fakeXmpp(t, { sasl2: 'forgets' });
    const account = xmppAccount(server.port);
    const first = await xmppBot(t, account);
    for (const id of ['a1', 'a2', 'a3']) server.send(said(id, id));
    await until(() => first.messages.length === 3, { what: 'the messages' });
    server.cut();
    await first.ended;
    const [former, before] = [server.stanzas.length, server.acks.length];
    const second = await xmppBot(t, account);
    server.send(`${said('a4', 'a4')}<r xmlns='urn:xmpp:sm:3'/>`);
    await until(() => second.messages.length > 0 && server.acks.length > before, { what: 'the acknowledgement' });

    // What the server has said in it: answers to the bot's questions, and one message. More would end the stream: handled-count-too-high.
    const asked = server.stanzas.slice(former).filter(({ name }) => name === 'iq');
    assert.equal(server.acks.at(-1), asked.length + 1);
  });

  it('goes on in its session along with the login, and counts on', async (t) => {
    const server = await fakeXmpp(t, { sasl2: 'resumes' });
    const account = xmppAccount(server.port);
    const first = await xmppBot(t, account);
    server.send(said('a1', 'a1'));
    await until(() => first.messages.length === 1, { what: 'the message' });
    server.cut();
    await first.ended;
    const before = server.acks.length;
    const second = await xmppBot(t, account);
    server.send(`${said('a2', 'a2')}<r xmlns='urn:xmpp:sm:3'/>`);
    await until(() => second.messages.length > 0 && server.acks.length > before, { what: 'the acknowledgement' });

    assert.equal(server.acks.at(-1), server.stanzas.filter(({ name }) => name === 'iq').length + 2);
    assert.equal(server.logins, 2);
    assert.equal((await second.post('k', 'ann@localhost', 'hi')).kind, 'sent');
  });

  it('waits where the server says so, and throws where it may have taken the post', async (t) => {
    const wait = (id: string): string =>
      `<message type='error' id='${id}' from='ann@localhost'><error type='wait'><resource-constraint xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/></error></message>`;
    let isSilent = false;
    const server = await fakeXmpp(t, {
      answer: ({ name, attrs }) => {
        if (isSilent) return '';
        return name === 'message' ? wait(attrs['id'] ?? '') : undefined;
      },
    });
    const bot = await xmppBot(t, xmppAccount(server.port));
    assert.deepEqual(await bot.post('k1', 'ann@localhost', 'hi'), { kind: 'later', afterMs: 30_000 });

    isSilent = true;
    const posted = bot.post('k2', 'ann@localhost', 'hi');
    posted.catch(() => {});
    await until(() => posts(server).length === 2, { what: 'the post to be out' });
    server.cut();

    await bot.ended;
    await assert.rejects(posted, /connection lost/);
    assert.deepEqual(await bot.post('k3', 'ann@localhost', 'hi'), { kind: 'later', afterMs: 2_000 });
  });

  it('fails for stream errors that stay, and comes again after those that pass', async (t) => {
    const end = (condition: string): string =>
      `<stream:error><${condition} xmlns='urn:ietf:params:xml:ns:xmpp-streams'/></stream:error></stream:stream>`;
    const codes: (string | undefined)[] = [];
    for (const condition of ['conflict', 'policy-violation', 'system-shutdown']) {
      const server = await fakeXmpp(t);
      const bot = await xmppBot(t, xmppAccount(server.port));
      server.send(end(condition));
      codes.push((await bot.ended)?.code);
    }
    const server = await fakeXmpp(t);
    codes.push((await (await xmppBot(t, xmppAccount(server.port, { password: secret('other') }))).ended)?.code);

    assert.deepEqual(codes, ['account_failed', undefined, undefined, 'account_failed']);
  });

  it('is there without a room whose server is silent, and in it once that answers', async (t) => {
    const room = 'team@far.example';
    let isSilent = true;
    const server = await fakeXmpp(t, {
      answer: ({ name, attrs: { to } }) => {
        if (to?.startsWith(room) !== true) return undefined;
        if (isSilent || name !== 'presence') return '';
        return `<presence from='${to}'><x xmlns='http://jabber.org/protocol/muc#user'><item affiliation='none' role='participant'/><status code='110'/></x></presence>`;
      },
    });
    const account = xmppAccount(server.port, { rooms: [{ jid: room }] });
    const bot = await xmppBot(t, account, {
      adapter: definitionOf(createXmpp({ ...TIMING, joinMs: 50, rejoinMs: 50 }), properties),
    });
    assert.deepEqual([bot.link.isOnline, bot.link.trouble], [true, `not in ${room}: no answer`]);

    isSilent = false;

    await until(() => bot.link.trouble === undefined, { what: 'the room to let it in' });
    assert.equal(server.logins, 1);
  });

  // As RFC 6120, 4.9.3.19 prints it. Nobody here has named that host: the account is not handed to it, and says where it was sent.
  it('is lost when it is sent to another host, and says to which', async (t) => {
    const server = await fakeXmpp(t);
    const bot = await xmppBot(t, xmppAccount(server.port));
    server.send(
      "<stream:error><see-other-host xmlns='urn:ietf:params:xml:ns:xmpp-streams'>[2001:41D0:1:A49b::1]:9222</see-other-host></stream:error></stream:stream>",
    );
    const error = await bot.ended;

    assert.equal(error?.code, undefined);
    assert.match(String(error), /to another host: \[2001:41D0:1:A49b::1\]:9222.* host and port/);
    assert.equal(server.logins, 1);
  });
});
