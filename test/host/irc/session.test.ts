// The IRC adapter at a server that keeps silent, refuses or misbehaves.
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { type Account, account as properties } from '../../../worker/adapters/irc/config.ts';
import { TIMING } from '../../../worker/adapters/irc/connection/timing.ts';
import { createIrc } from '../../../worker/adapters/irc/index.ts';
import type { Arrival, Outgoing } from '../../../worker/sdk/index.ts';
import { adapterLink, definitionOf, type TestLink } from '../../support/accounts/adapter-link.ts';
import { ircAccount } from '../../support/irc/irc-account.ts';
import { channelsIn, joined, scriptedIrc } from '../../support/irc/scripted-irc.ts';
import { until } from '../../support/until.ts';

const irc = definitionOf(createIrc(TIMING), properties);
/** For servers that keep silent. */
const unconfirmed = definitionOf(createIrc({ ...TIMING, confirmMs: 150 }), properties);
const unwelcome = definitionOf(createIrc({ ...TIMING, registerMs: 300 }), properties);
/** Comes back soon to channels. */
const eager = definitionOf(createIrc({ ...TIMING, regainMs: 200, rejoinMs: 200 }), properties);
const secret = (text: string) => ({ reveal: () => text });

describe('IRC session', () => {
  it('throws when the server takes a line and does not confirm it: it may have been said', async (t) => {
    let isSilent = false;
    const server = await scriptedIrc(t, { answer: (line) => (isSilent && line.startsWith('PING') ? [] : undefined) });
    const { link } = await start(t, server.port, {}, unconfirmed);

    isSilent = true;

    await assert.rejects(unconfirmed.send(post('k1', 'ann', 'hello'), link), /no PONG/);
    await until(() => server.lines.some(({ text }) => text === 'PRIVMSG ann :hello'), { what: 'the line' });
  });

  it('says later, and has written nothing, when there is no connection', async () => {
    assert.equal((await irc.send(post('k1', 'ann', 'hello'), adapterLink(ircAccount(1)))).kind, 'later');
  });

  it('writes a PING after the last line', async (t) => {
    const server = await scriptedIrc(t);
    const { link } = await start(t, server.port, { burstLines: 2, linesPerSecond: 20 });

    await irc.send(post('k1', 'ann', 'a\nb\nc\nd'), link);

    const ours = server.lines.filter(({ text }) => /^(PRIVMSG|PING :svc-k1)/.test(text));
    assert.deepEqual(
      ours.map(({ text }) => text.split(' ')[0]),
      ['PRIVMSG', 'PRIVMSG', 'PRIVMSG', 'PRIVMSG', 'PING'],
    );
  });

  it('says a post once that is asked for again while its lines wait for the flood limit, or when they are out', async (t) => {
    const server = await scriptedIrc(t);
    const { link } = await start(t, server.port, { burstLines: 1, linesPerSecond: 20 });
    const said = (): readonly string[] =>
      server.lines.filter(({ text }) => text.startsWith('PRIVMSG')).map(({ text }) => text.slice(-1));

    const slow = irc.send(post('k1', 'ann', 'a\nb\nc\nd'), link);
    await until(() => said().length > 1, { what: 'the second line' });
    const again = irc.send(post('k1', 'ann', 'a\nb\nc\nd'), link);

    assert.deepEqual(await Promise.all([slow, again]), [{ kind: 'sent' }, { kind: 'sent' }]);
    await irc.send(post('k2', 'ann', 'e'), link);
    assert.deepEqual(said(), ['a', 'b', 'c', 'd', 'e']);
    // The host asks again only where it had no result in time: the post may have ended before it does.
    assert.deepEqual(await irc.send(post('k1', 'ann', 'a\nb\nc\nd'), link), { kind: 'sent' });
    await irc.send(post('k3', 'ann', 'f'), link);
    assert.deepEqual(said(), ['a', 'b', 'c', 'd', 'e', 'f']);
  });

  it('says a post again that was not confirmed, when it is asked for again', async (t) => {
    let isSilent = true;
    const server = await scriptedIrc(t, {
      answer: (line) => (isSilent && line.startsWith('PING :svc-k1') ? [] : undefined),
    });
    const { link } = await start(t, server.port, {}, unconfirmed);
    await assert.rejects(unconfirmed.send(post('k1', 'ann', 'hello'), link), /no PONG/);

    isSilent = false;

    // A confirmation that comes late, to a slow machine, is none: then it is asked for once more.
    await until(async () => (await unconfirmed.send(post('k1', 'ann', 'hello'), link)).kind === 'sent', {
      what: 'the post to be confirmed',
    });
    assert.ok(server.lines.filter(({ text }) => text === 'PRIVMSG ann :hello').length >= 2);
  });

  it('tells a refused post from a sent one', async (t) => {
    const server = await scriptedIrc(t, {
      answer: (line) => (line.startsWith('PRIVMSG') ? [':s 404 svcbot #other :Cannot send to channel'] : undefined),
    });
    const { link } = await start(t, server.port);

    assert.deepEqual(await irc.send(post('k1', '#other', 'x'), link), {
      kind: 'refused',
      reason: 'Cannot send to channel (404)',
    });
    assert.deepEqual(await irc.send(post('k2', 'ann', 'x'), link), { kind: 'sent' });
  });

  it('takes the refusal of its wanted nick for none of what it says to who wears that', async (t) => {
    const server = await scriptedIrc(t, {
      registration: { taken: ['svcbot'] },
      answer: (line, nick) =>
        line.startsWith('PING') && nick !== '*'
          ? [`:s 433 ${nick} svcbot :Nickname is already in use`, `:s PONG s ${line.slice('PING '.length)}`]
          : undefined,
    });
    const { link } = await start(t, server.port);

    assert.equal((await irc.send(post('k1', 'svcbot', 'whose nick is that?'), link)).kind, 'sent');
  });

  it('says without codes what a channel takes with none, once, and is plain there from then on (IRC-POSTING-2)', async (t) => {
    const server = await scriptedIrc(t, {
      answer: (line) =>
        /^PRIVMSG #plain .*\u0002/.test(line) ? [':s 404 svcbot #plain :Formatting codes are blocked'] : undefined,
    });
    const { link } = await start(t, server.port);
    const said = (): readonly string[] =>
      server.lines.map(({ text }) => text).filter((text) => text.startsWith('PRIVMSG'));

    assert.deepEqual(await irc.send(post('k1', '#plain', 'one\n\u0002two\u0002'), link), { kind: 'sent' });
    assert.deepEqual(await irc.send(post('k2', '#PLAIN', '\u0002three\u0002'), link), { kind: 'sent' });
    assert.deepEqual(await irc.send(post('k3', '#room', '\u0002four\u0002'), link), { kind: 'sent' });

    assert.deepEqual(said(), [
      'PRIVMSG #plain :one',
      'PRIVMSG #plain :\u0002two\u0002',
      'PRIVMSG #plain :two',
      'PRIVMSG #PLAIN :three',
      'PRIVMSG #room :\u0002four\u0002',
    ]);
  });

  it('refuses what is refused without codes, too', async (t) => {
    const server = await scriptedIrc(t, {
      answer: (line) => (line.startsWith('PRIVMSG') ? [':s 404 svcbot #other :Cannot send to channel'] : undefined),
    });
    const { link } = await start(t, server.port);

    assert.equal((await irc.send(post('k1', '#other', '\u0002x\u0002'), link)).kind, 'refused');
  });

  it('says nothing sent that the server dropped: too many targets in too short a time, or a person who takes no strangers', async (t) => {
    const drops: Readonly<Record<string, string>> = {
      ann: ':s 707 svcbot ann :Targets changing too fast, message dropped',
      bob: ':s 439 svcbot bob :Message target change too fast. Please wait 23 seconds',
      cy: ':s 716 svcbot cy :is in +g mode (server-side ignore.)',
    };
    const server = await scriptedIrc(t, {
      answer: (line) => {
        const drop = line.startsWith('PRIVMSG') ? drops[line.split(' ')[1] ?? ''] : undefined;
        return drop === undefined ? undefined : [drop];
      },
    });
    const { link } = await start(t, server.port);

    assert.deepEqual(await irc.send(post('k1', 'ann', 'x'), link), { kind: 'later', afterMs: 60_000 });
    assert.deepEqual(await irc.send(post('k2', 'bob', 'x'), link), { kind: 'later', afterMs: 23_000 });
    assert.deepEqual(await irc.send(post('k3', 'cy', 'x'), link), {
      kind: 'refused',
      reason: 'is in +g mode (server-side ignore.) (716)',
    });
  });

  it("takes the server's own ids and times, so that a repeat is the same delivery", async (t) => {
    const server = await scriptedIrc(t, {
      answer: (line) =>
        line.startsWith('CAP LS')
          ? [':s CAP * LS :message-tags server-time']
          : line.startsWith('CAP REQ')
            ? [`:s CAP * ACK ${line.slice(8)}`]
            : undefined,
    });
    const { link } = await start(t, server.port);

    server.send('@msgid=abc;time=2026-01-01T00:00:00.000Z :ann!u@h PRIVMSG #room :hello\r\n');
    await until(() => link.arrivals.length === 1, { what: 'the message' });

    assert.deepEqual(
      link.arrivals.map(({ id, sentAt }) => [id, sentAt]),
      [['abc', Date.UTC(2026, 0, 1)]],
    );
    assert.ok(server.lines.some(({ text }) => /^CAP REQ .*message-tags.*server-time/.test(text)));
  });

  it('is degraded while it is not in one of its channels, and well again once it is', async (t) => {
    const shut = new Set(['#shut']);
    const server = await scriptedIrc(t, {
      answer(line, nick) {
        const refused = (channel: string) => [`:s 473 ${nick} ${channel} :Cannot join channel (+i)`];
        const answers = channelsIn(line).map((one) => (shut.has(one) ? refused(one) : joined(one, nick)));
        return answers.length === 0 ? undefined : answers.flat();
      },
    });
    const { link } = await start(t, server.port, { channels: ['#room', '#shut'] }, eager);
    await until(() => link.trouble !== undefined, { what: 'the account to be degraded' });
    const refused = link.trouble;
    shut.delete('#shut');
    await until(() => link.trouble === undefined, { what: 'the account to be well again' });
    shut.add('#room');
    server.send(':ann!u@h KICK #room svcbot :out\r\n');
    await until(() => link.trouble !== undefined, { what: 'the account to be degraded again' });
    await until(() => link.trouble?.includes('+i'), { what: 'the reason of the refusal' });
    shut.delete('#room');
    await until(() => link.trouble === undefined, { what: 'the account to be back in the room' });

    assert.equal(refused, 'not in #shut: Cannot join channel (+i)');
  });

  // Solanum (Libera): forwarded, thrown out too often; IRCnet: held back after a split.
  it('says why it is not in a channel, whatever number the server has for it', async (t) => {
    const reasons = [
      ['470', '#shut ##shut :Forwarding to another channel'],
      ['480', '#shut :Cannot join channel (+j) - throttle exceeded, try again later'],
      ['437', '#shut :Nick/channel is temporarily unavailable'],
    ] as const;
    const troubles: (string | undefined)[] = [];
    for (const [numeric, words] of reasons) {
      const server = await scriptedIrc(t, {
        answer: (line, nick) => (line.startsWith('JOIN') ? [`:s ${numeric} ${nick} ${words}`] : undefined),
      });
      const { link } = await start(t, server.port, { channels: ['#shut'] }, eager);
      await until(() => link.trouble !== undefined, { what: 'the account to be degraded' });
      troubles.push(link.trouble);
    }

    assert.deepEqual(
      troubles,
      reasons.map(([, words]) => `not in #shut: ${words.split(' :')[1]}`),
    );
  });

  it('fails the account on a wrong password, a ban and a refused SASL account', async (t) => {
    const refusals: readonly (readonly [string, Partial<Account>, (line: string) => readonly string[] | undefined])[] =
      [
        [
          '464',
          { password: secret('wrong') },
          (line) => (line.startsWith('PASS') ? [':s 464 * :Password incorrect'] : undefined),
        ],
        ['465', {}, (line) => (line.startsWith('USER') ? [':s 465 * :You are banned'] : undefined)],
        ['904', { sasl: { account: 'bot', password: secret('wrong') } }, sasl],
      ];

    for (const [numeric, change, answer] of refusals) {
      const server = await scriptedIrc(t, { answer });
      const link = adapterLink(ircAccount(server.port, change));
      await assert.rejects(irc.connect?.(link) ?? Promise.resolve(), { code: 'account_failed' }, numeric);
      assert.equal(link.isOnline, false);
    }
  });

  it('does not go on without the SASL account that it has, and says that the server offers no SASL', async (t) => {
    for (const capabilities of [[], ['multi-prefix']]) {
      const server = await scriptedIrc(t, { registration: { capabilities } });
      const link = adapterLink(ircAccount(server.port, { sasl: { account: 'bot', password: secret('good') } }));

      await assert.rejects(
        irc.connect?.(link) ?? Promise.resolve(),
        /SASL is not possible now: the server does not offer it$/,
      );

      assert.deepEqual([link.isOnline, server.lines.filter(({ text }) => text.startsWith('JOIN'))], [false, []]);
    }
  });

  it('is lost, not hung, at a server that never welcomes or never ends a line', async (t) => {
    const silent = await scriptedIrc(t, { answer: () => [] });
    const endless = await scriptedIrc(t);
    const bot = await start(t, endless.port);

    await assert.rejects(
      unwelcome.connect?.(adapterLink(ircAccount(silent.port))) ?? Promise.resolve(),
      /not registered/,
    );
    endless.send('x'.repeat(200_000));
    await assert.rejects(bot.ended, /connection lost/);
  });

  it('says with what words the server closed the connection, at the start and later', async (t) => {
    const unwilling = await scriptedIrc(t, { answer: (line) => (line.startsWith('USER') ? [] : undefined) });
    const link = adapterLink(ircAccount(unwilling.port));
    const refused = assert.rejects(
      irc.connect?.(link) ?? Promise.resolve(),
      /connection lost: the server says: Too many connections$/,
    );
    await until(() => unwilling.lines.some(({ text }) => text.startsWith('USER')), { what: 'the client to come' });
    unwilling.end('ERROR :Too many connections');
    await refused;

    const server = await scriptedIrc(t);
    const { ended } = await start(t, server.port);
    server.end('ERROR :Closing Link: svcbot (K-lined)');
    await assert.rejects(ended, /connection lost: the server says: Closing Link: svcbot \(K-lined\)$/);
  });

  it('never says more than it was told to: no answer to CTCP, notices or errors', async (t) => {
    const server = await scriptedIrc(t);
    const { link } = await start(t, server.port);
    const before = server.lines.length;

    for (const line of [
      'PRIVMSG svcbot :\u0001VERSION\u0001',
      'NOTICE svcbot :hi',
      'PRIVMSG svcbot :\u0001PING 1\u0001',
      'INVITE svcbot #x',
      'PRIVMSG svcbot :done',
    ])
      server.send(`:ann!u@h ${line}\r\n`);
    await until(() => link.arrivals.length > 0, { what: 'the last line' });

    assert.deepEqual(
      link.arrivals.map((arrival: Arrival) => arrival.kind === 'message' && arrival.text),
      ['done'],
    );
    assert.equal(server.lines.length, before);
  });
});

function sasl(line: string): readonly string[] | undefined {
  if (line.startsWith('USER')) return [];
  if (line.startsWith('CAP LS')) return [':s CAP * LS :sasl'];
  if (line.startsWith('CAP REQ')) return [':s CAP * ACK :sasl'];
  if (line === 'AUTHENTICATE PLAIN') return ['AUTHENTICATE +'];
  if (line.startsWith('AUTHENTICATE')) return [':s 904 * :SASL authentication failed'];
  return undefined;
}

// oxlint-disable-next-line max-params -- the last one for one test
async function start(
  t: TestContext,
  port: number,
  change: Partial<Account> = {},
  adapter = irc,
): Promise<{ readonly link: TestLink<Account>; readonly ended: Promise<void> }> {
  const link = adapterLink(ircAccount(port, change));
  const ended = Promise.resolve(adapter.connect?.(link));
  let isOver = false;
  ended.catch(() => (isOver = true));
  t.after(async () => {
    link.stop();
    await ended.catch(() => {});
  });
  await until(() => link.isOnline || isOver, { what: 'the adapter to be online' });
  if (isOver) await ended;
  return { link, ended };
}

const post = (key: string, conversation: string, text: string): Outgoing => ({
  kind: 'post',
  key,
  conversation,
  text,
  buttons: [],
  files: [],
});
