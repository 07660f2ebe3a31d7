// A connection that stands and says nothing more, as after a cable that was cut: neither side hears of its end. Each is given up in bounded
// time, so that the host connects anew.
import assert from 'node:assert/strict';
import { type AddressInfo, createServer } from 'node:net';
import { describe, it } from 'node:test';
import { account as ircProperties } from '../../../worker/adapters/irc/config.ts';
import { TIMING as IRC } from '../../../worker/adapters/irc/connection/timing.ts';
import { createIrc } from '../../../worker/adapters/irc/index.ts';
import { connect, WAITS } from '../../../worker/adapters/telegram/connect.ts';
import { account as xmppProperties } from '../../../worker/adapters/xmpp/config.ts';
import { TIMING as XMPP } from '../../../worker/adapters/xmpp/connection/session.ts';
import { createXmpp } from '../../../worker/adapters/xmpp/index.ts';
import { adapterLink, definitionOf } from '../../support/accounts/adapter-link.ts';
import { says, telegramBench } from '../../support/accounts/telegram-bench.ts';
import { xmppAccount, xmppBot } from '../../support/accounts/xmpp-account.ts';
import { fakeXmpp } from '../../support/fake-platforms/xmpp-server.ts';
import { ircAccount } from '../../support/irc/irc-account.ts';
import { ircBot } from '../../support/irc/irc-bot.ts';
import { scriptedIrc } from '../../support/irc/scripted-irc.ts';
import { until } from '../../support/until.ts';

describe('a connection that falls silent', { concurrency: true }, () => {
  it('of IRC is lost once pings are not answered, and the next one stands', async (t) => {
    const adapter = definitionOf(createIrc({ ...IRC, pingMs: 50, silentMs: 10_000 }), ircProperties);
    let isSilent = false;
    const server = await scriptedIrc(t, { answer: () => (isSilent ? [] : undefined) });
    const bot = await ircBot(t, adapter, ircAccount(server.port));
    const pings = (): number => server.lines.filter(({ text }) => text.startsWith('PING')).length;
    const before = pings();
    await until(() => pings() > before + 2, { what: 'pings that are answered' });
    assert.ok(bot.isRunning());

    isSilent = true;
    await assert.rejects(bot.ended, /nothing was heard of the server for 10000 ms/);
    isSilent = false;
    const next = await ircBot(t, adapter, ircAccount(server.port));

    assert.ok(next.link.isOnline);
  });

  it('of XMPP says how far the login has come', async (t) => {
    const adapter = definitionOf(createXmpp({ ...XMPP, loginMs: 5_000 }), xmppProperties);
    const [nothing, streamAlone] = [
      '',
      '<stream:stream xmlns="jabber:client" xmlns:stream="http://etherx.jabber.org/streams" id="1" version="1.0">',
    ];
    const endAt = async (said: string): Promise<string> => {
      const server = createServer((socket) => socket.on('error', () => {}).once('data', () => socket.write(said)));
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      t.after(() => server.close());
      const bot = await xmppBot(t, xmppAccount((server.address() as AddressInfo).port), { adapter });
      return (await bot.ended)?.message ?? '';
    };

    assert.match(await endAt(nothing), /not logged in within 5000 ms: connected, and the server begins no stream/);
    assert.match(
      await endAt(streamAlone),
      /not logged in within 5000 ms: the server has begun a stream, and lets nobody in/,
    );
  });

  it('of IRC stands while the host cannot store what came, and says meanwhile that it is there', async (t) => {
    const timing = { ...IRC, pingMs: 50, silentMs: 4_000, confirmMs: 4_000 };
    const adapter = definitionOf(createIrc(timing), ircProperties);
    const server = await scriptedIrc(t);
    let open: () => void = () => {};
    const gate = new Promise<void>((resolve) => (open = resolve));
    const bot = await ircBot(t, adapter, { ...ircAccount(server.port), store: () => gate });
    const texts = Array.from({ length: 1_500 }, (_, n) => `line ${n}`);
    const signs = (): number => server.lines.filter(({ text }) => text.startsWith('PING :svc-reads-later')).length;
    const said = (): number => server.lines.filter(({ text }) => text.startsWith('PRIVMSG')).length;

    server.send(texts.map((text) => `:ann!u@h PRIVMSG #room :${text}\r\n`).join(''));
    await until(() => signs() > 0, { what: 'the pause' });
    const posted = bot.post('k1', 'ann', 'hello');
    await until(() => signs() > 100 || !bot.isRunning(), { what: 'more of it than a silence may last' });
    assert.deepEqual([bot.isRunning(), said()], [true, 0], 'nothing is said that could not be confirmed');
    open();

    assert.deepEqual(await posted, { kind: 'sent' });
    await until(() => bot.messages().length === texts.length, { what: 'all that was said' });
    assert.deepEqual(
      bot.messages().map(({ text }) => text),
      texts,
    );
    assert.ok(bot.isRunning());
  });

  it('of XMPP is lost once a ping is not answered, and the next one stands', async (t) => {
    const adapter = definitionOf(createXmpp({ ...XMPP, pingMs: 50, answerMs: 8_000 }), xmppProperties);
    let isSilent = false;
    const server = await fakeXmpp(t, { answer: () => (isSilent ? '' : undefined) });
    const account = xmppAccount(server.port);
    const bot = await xmppBot(t, account, { adapter });
    const pings = (): number => server.stanzas.filter((one) => one.getChild('ping', 'urn:xmpp:ping')).length;
    await until(() => pings() > 3, { what: 'pings that are answered' });

    isSilent = true;
    const error = await bot.ended;
    isSilent = false;
    const next = await xmppBot(t, account, { adapter });

    assert.match(String(error), /the server does not answer/);
    assert.ok(next.link.isOnline);
  });

  it('of Telegram is lost once a long poll has no answer, and the next one brings what came', async (t) => {
    const { telegram, token, account } = await telegramBench(t);
    const waits = { ...WAITS, pollSeconds: 0, answerMs: 8_000 };

    const [silent, next] = [adapterLink(account), adapterLink(account)];
    t.after(() => next.stop());
    const ended = connect(silent, waits);
    await until(() => silent.isOnline, { what: 'the account to be online' });
    telegram.next('getUpdates', 'hold');
    await assert.rejects(ended, /Telegram is not reached/);
    telegram.happens(token, says('said meanwhile'));
    void connect(next, WAITS).catch(() => {});
    await until(() => next.arrivals.length > 0, { what: 'what came' });

    assert.equal(telegram.held, 1);
  });
});
