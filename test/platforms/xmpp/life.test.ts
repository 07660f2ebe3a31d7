// The life of an XMPP account at a real server: logins that fail, connections that break, what came meanwhile, rooms that put us out.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { secret } from '../../../worker/sdk/secret.ts';
import { prosody, prosodyMissing } from '../../support/accounts/prosody.ts';
import { xmppAccount, xmppBot } from '../../support/accounts/xmpp-account.ts';
import { xmppPerson } from '../../support/accounts/xmpp-person.ts';
import { tcpProxy } from '../../support/http/tcp-proxy.ts';
import { until } from '../../support/until.ts';

const skip = prosodyMissing();
const ROOM = 'team@rooms.localhost';
const PLAIN_ROOM = 'team@plain.localhost';
const BOT = 'bot@localhost';
const rooms = [{ jid: ROOM }];
const texts = (bot: { readonly messages: readonly { readonly text: unknown }[] }) =>
  bot.messages.map(({ text }) => text);

describe('XMPP account at Prosody', { skip, timeout: 590_000, concurrency: 3 }, () => {
  it('logs in over STARTTLS and direct TLS, and takes no certificate that nobody vouches for', async (t) => {
    const server = await prosody(t, { lines: ['c2s_require_encryption = true'] });
    const trusting = { verifyCertificate: false, tls: 'starttls' } as const;
    const starttls = await xmppBot(t, xmppAccount(server.port, trusting));
    const results = [await starttls.post('k', 'ann@localhost', 'hi')];
    await starttls.stop();
    const direct = await xmppBot(t, xmppAccount(server.directTlsPort, { ...trusting, tls: 'direct' }));
    results.push(await direct.post('k', 'ann@localhost', 'hi'));

    assert.deepEqual(
      results.map(({ kind }) => kind),
      ['sent', 'sent'],
    );
    for (const refusing of [
      xmppAccount(server.port, { tls: 'starttls' }),
      xmppAccount(server.directTlsPort, { tls: 'direct' }),
    ])
      assert.match(
        (await (await xmppBot(t, refusing)).ended)?.message ?? '',
        /connection lost: self-signed certificate/,
      );
    const far = await (await xmppBot(t, xmppAccount(server.port, { host: '192.0.2.1' }))).ended;
    assert.deepEqual([far?.code, /tls: none/.test(far?.message ?? '')], ['account_failed', true]);
  });

  it('fails for what would be refused again: a wrong password, an unknown domain, another client with its resource', async (t) => {
    const server = await prosody(t);
    const wrong = await xmppBot(t, xmppAccount(server.port, { password: secret('not-it') }));
    const nowhere = await xmppBot(t, xmppAccount(server.port, { jid: 'bot@example.invalid' }));
    const first = await xmppBot(t, xmppAccount(server.port));
    await xmppBot(t, xmppAccount(server.port));

    for (const bot of [wrong, nowhere, first]) {
      const error = await bot.ended;
      assert.equal(error?.code, 'account_failed', error?.message);
      assert.ok((error?.remedy ?? '').length > 10);
      assert.ok(!error?.message.includes('not-it'));
    }
  });

  it('takes once, and in order, what came while it was away, in private and in rooms with and without an archive', async (t) => {
    const server = await prosody(t);
    const account = xmppAccount(server.port, { rooms: [...rooms, { jid: PLAIN_ROOM }] });
    const before = await xmppBot(t, account);
    const ann = await xmppPerson(t, server.port, 'ann');
    for (const room of [ROOM, PLAIN_ROOM]) await ann.join(room);
    const say = (text: string): void => {
      ann.says(BOT, `${text} private`);
      ann.saysIn(ROOM, `${text} room`);
      ann.saysIn(PLAIN_ROOM, `${text} plain`);
    };
    say('one');
    await until(() => before.messages.length === 3, { what: 'what is said while it is there' });
    await before.post('own', ROOM, 'my own');
    await before.stop();
    for (let i = 0; i < 120; i++) ann.says(BOT, `missed ${i}`);
    say('two');
    await until(() => ann.heard(PLAIN_ROOM).includes('two plain'), { what: 'the rooms to have it' });

    const after = await xmppBot(t, { ...account }, { cursor: before.cursor });
    say('three');
    await until(() => ['private', 'room', 'plain'].every((where) => texts(after).includes(`three ${where}`)), {
      what: 'what is said then',
    });

    const known = new Set(before.link.arrivals.map(({ id }) => id));
    const fresh = after.messages.filter(({ id }) => !known.has(id)).map(({ text }) => String(text));
    assert.deepEqual(
      fresh.filter((text) => /private|missed/.test(text)),
      [...Array.from({ length: 120 }, (_, i) => `missed ${i}`), 'two private', 'three private'],
    );
    assert.deepEqual(
      fresh.filter((text) => text.endsWith('room')),
      ['two room', 'three room'],
    );
    assert.deepEqual(
      fresh.filter((text) => text.endsWith('plain')),
      ['two plain', 'three plain'],
    );
    assert.ok(!texts(after).includes('my own'));
  });

  it('resumes a session that broke: what was said meanwhile comes once, what was on its way is said once', async (t) => {
    const server = await prosody(t);
    const proxy = await tcpProxy(t, server.port);
    const account = xmppAccount(proxy.port, { rooms });
    const before = await xmppBot(t, account);
    const ann = await xmppPerson(t, server.port, 'ann');
    await ann.join(ROOM);
    ann.saysIn(ROOM, 'one');
    await until(() => before.messages.length === 1, { what: 'the first message' });

    // The server gets it, and its answer does not come back.
    proxy.mute();
    const posted = before.post('k', 'ann@localhost', 'on its way');
    await until(() => ann.heard(BOT).length === 1, { what: 'the post to arrive' });
    proxy.cut();
    assert.match((await before.ended)?.message ?? '', /connection lost/);
    ann.saysIn(ROOM, 'two');
    ann.says(BOT, 'three');
    const after = await xmppBot(t, account, { cursor: before.cursor });
    await until(() => after.messages.length >= 2, { what: 'what was said meanwhile' });
    await after.post('k2', 'ann@localhost', 'done');
    await until(() => ann.heard(BOT).includes('done'), { what: 'the next post' });

    assert.equal((await posted).kind, 'sent');
    assert.deepEqual(ann.heard(BOT), ['on its way', 'done']);
    assert.deepEqual(texts(after), ['two', 'three']);
    // It never left the room.
    assert.equal(ann.presences.filter(({ attrs }) => attrs['from'] === `${ROOM}/bot`).length, 1);
  });

  it('acknowledges what is stored: what a crash takes comes again, also where there is no archive', async (t) => {
    const server = await prosody(t, { modules: ['smacks'] });
    const proxy = await tcpProxy(t, server.port);
    let isFull = true;
    const store = (): Promise<void> => (isFull ? Promise.reject(new Error('disk full')) : Promise.resolve());
    const account = xmppAccount(proxy.port);
    const before = await xmppBot(t, account, { store });
    const ann = await xmppPerson(t, server.port, 'ann');
    for (const text of ['one', 'two']) ann.says(BOT, text);
    await ann.ask("<iq type='get' to='localhost'><ping xmlns='urn:xmpp:ping'/></iq>"); // read in order
    proxy.cut();
    assert.match((await before.ended)?.message ?? '', /connection lost/);
    assert.equal(before.messages.length, 0);
    isFull = false;

    // As after a crash: nothing is known of the session.
    const after = await xmppBot(t, { ...account }, { cursor: before.cursor });
    await until(() => after.messages.length === 2, { what: 'both messages' });

    assert.deepEqual(texts(after), ['one', 'two']);
  });

  it('looks for a post before it says it again', async (t) => {
    const server = await prosody(t);
    const account = xmppAccount(server.port, { rooms });
    const before = await xmppBot(t, account);
    const ann = await xmppPerson(t, server.port, 'ann');
    await ann.join(ROOM);
    const first = [await before.post('k1', ROOM, 'once'), await before.post('k2', 'ann@localhost', 'once')];
    await before.stop();
    const bot = await xmppBot(t, { ...account }, { cursor: before.cursor });
    const again = (key: string, conversation: string) =>
      bot.send({ kind: 'post', key, conversation, text: 'once', repeat: true });

    const second = [await again('k1', ROOM), await again('k2', 'ann@localhost'), await again('k3', ROOM)];
    await until(() => ann.heard(`${ROOM}/bot`).length === 2, { what: 'the one that was not there' });

    assert.deepEqual(second.slice(0, 2), first);
    assert.deepEqual([ann.heard(`${ROOM}/bot`).length, ann.heard(BOT).length], [2, 1]);
  });

  it('is degraded while a room does not let it in, comes back after a kick, and wears another nick while its own is taken', async (t) => {
    const server = await prosody(t, { users: ['bot', 'ann', 'bob'] });
    const ann = await xmppPerson(t, server.port, 'ann');
    const bob = await xmppPerson(t, server.port, 'bob');
    await ann.join(ROOM);
    await ann.ask(
      `<iq type='set' to='${ROOM}'><query xmlns='http://jabber.org/protocol/muc#owner'><x xmlns='jabber:x:data' type='submit'/></query></iq>`,
    );
    await bob.join(ROOM, 'bot');
    const admin = (what: string) =>
      ann.ask(
        `<iq type='set' to='${ROOM}'><query xmlns='http://jabber.org/protocol/muc#admin'><item ${what}/></query></iq>`,
      );
    await admin("affiliation='outcast' jid='bot@localhost'");

    const bot = await xmppBot(t, xmppAccount(server.port, { rooms }));
    await until(() => /team@rooms.localhost: forbidden/.test(bot.link.trouble ?? ''), { what: 'the ban to be told' });
    assert.equal((await bot.post('k1', ROOM, 'hello?')).kind, 'refused');
    await admin("affiliation='none' jid='bot@localhost'");
    await until(() => bot.link.trouble === undefined, { what: 'the room to be joined' });
    await bot.post('k2', ROOM, 'here');
    bob.raw(`<presence to='${ROOM}/bot' type='unavailable'/>`);
    await until(async () => (await bot.post('k3', ROOM, 'me')) && ann.heard(`${ROOM}/bot`).includes('me'), {
      what: 'its own nick',
    });
    await admin("role='none' nick='bot'");
    await until(
      () => ann.presences.some((one) => one.attrs['type'] === 'unavailable' && String(one).includes('code="307"')),
      {
        what: 'the kick',
      },
    );
    await until(async () => (await bot.post('k4', ROOM, 'back')).kind === 'sent', { what: 'its return' });

    assert.deepEqual(ann.heard(`${ROOM}/bot_`)[0], 'here');
  });

  it('does not make a room again that its owner destroyed, and comes back when it is there', async (t) => {
    const server = await prosody(t, { users: ['bot', 'ann'] });
    const ann = await xmppPerson(t, server.port, 'ann');
    const owns = (inside: string) =>
      ann.ask(`<iq type='set' to='${ROOM}'><query xmlns='http://jabber.org/protocol/muc#owner'>${inside}</query></iq>`);
    const isThere = async (): Promise<boolean> =>
      (await ann.ask(`<iq type='get' to='${ROOM}'><query xmlns='http://jabber.org/protocol/disco#info'/></iq>`)).attrs[
        'type'
      ] === 'result';
    await ann.join(ROOM);
    await owns("<x xmlns='jabber:x:data' type='submit'/>");
    const account = xmppAccount(server.port, { rooms });
    const first = await xmppBot(t, account);
    await until(() => first.link.trouble === undefined, { what: 'the room to be joined' });

    // XEP-0045, 10.9.
    await owns('<destroy><reason>Macbeth doth come.</reason></destroy>');
    await until(() => /its owner destroyed it/.test(first.link.trouble ?? ''), { what: 'the end to be told' });
    const sent = await first.post('k1', ROOM, 'hello?');
    await first.stop();
    const bot = await xmppBot(t, account);
    const wasThere = await isThere();
    await ann.join(ROOM);
    await owns("<x xmlns='jabber:x:data' type='submit'/>");
    await until(async () => (await bot.post('k2', ROOM, 'back')).kind === 'sent', { what: 'its return' });

    assert.deepEqual([sent.kind, wasThere], ['refused', false]);
  });

  it('works with a server that acknowledges nothing and keeps nothing', async (t) => {
    const server = await prosody(t, { modules: [] });
    const bot = await xmppBot(t, xmppAccount(server.port));
    const ann = await xmppPerson(t, server.port, 'ann');
    const results = [await bot.post('k1', 'ann@localhost', 'hi'), await bot.post('k2', 'nobody@localhost', 'hi')];
    ann.says(BOT, 'hello');
    await until(() => bot.messages.length === 1, { what: 'the message' });
    await server.kill();
    assert.match((await bot.ended)?.message ?? '', /connection lost/);
    assert.match((await (await xmppBot(t, xmppAccount(server.port))).ended)?.message ?? '', /connection lost/);
    await server.start();
    const again = await xmppBot(t, xmppAccount(server.port), { cursor: bot.cursor });
    assert.equal((await again.post('k3', 'ann@localhost', 'hi')).kind, 'sent');

    assert.deepEqual(
      results.map(({ kind }) => kind),
      ['sent', 'refused'],
    );
  });
});
