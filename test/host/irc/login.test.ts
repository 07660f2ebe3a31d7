// How an IRC account gets in: over TLS, by SASL, with a service of the network, into channels with a key.
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { type Account, account as properties } from '../../../worker/adapters/irc/config.ts';
import { TIMING } from '../../../worker/adapters/irc/connection/timing.ts';
import { createIrc } from '../../../worker/adapters/irc/index.ts';
import { adapterLink, definitionOf, type TestLink } from '../../support/accounts/adapter-link.ts';
import { selfSigned } from '../../support/http/self-signed.ts';
import { ircAccount } from '../../support/irc/irc-account.ts';
import { channelsIn, type ScriptedIrc, scriptedIrc } from '../../support/irc/scripted-irc.ts';
import { until } from '../../support/until.ts';

const irc = definitionOf(createIrc({ ...TIMING, identifyMs: 20_000, regainMs: 50 }), properties);
/** For a service that does not answer. */
const unanswered = definitionOf(createIrc({ ...TIMING, identifyMs: 200 }), properties);
const secret = (text: string) => ({ reveal: () => text });
const NICKSERV = { service: 'NickServ', password: secret('pass') };

interface Connected {
  readonly link: TestLink<Account>;
  readonly ended: Promise<void>;
}

// oxlint-disable-next-line max-params -- the last one for one test
function connect(t: TestContext, { port }: ScriptedIrc, change: Partial<Account> = {}, adapter = irc): Connected {
  const link = adapterLink(ircAccount(port, change));
  const ended = Promise.resolve(adapter.connect?.(link));
  ended.catch(() => {});
  t.after(async () => {
    link.stop();
    await ended.catch(() => {});
  });
  return { link, ended };
}

const online = ({ link }: Connected): Promise<unknown> =>
  until(() => link.isOnline, { what: 'the account to be online' });
const said = (server: ScriptedIrc, pattern: RegExp): string[] =>
  server.lines.map(({ text }) => text).filter((text) => pattern.test(text));

describe('an IRC account over TLS', () => {
  it('does not trust a certificate that nobody vouches for, says why, and has sent nothing', async (t) => {
    const server = await scriptedIrc(t, { tls: selfSigned() });
    const { link, ended } = connect(t, server, { tls: true, password: secret('pass') });

    await assert.rejects(ended, /connection lost: self-signed certificate/);

    assert.equal(link.isOnline, false);
    assert.deepEqual(server.lines, []);
  });

  it('takes any certificate where it is told to, and talks both ways', async (t) => {
    const server = await scriptedIrc(t, { tls: selfSigned() });
    const connected = connect(t, server, { tls: true, verifyCertificate: false });
    await online(connected);

    server.send(':ann!u@h PRIVMSG #room :svcbot: hello\r\n');
    await until(() => connected.link.arrivals.length === 1, { what: 'the message' });
    const call = { kind: 'post', key: 'k1', conversation: '#room', text: 'hi', buttons: [], files: [] } as const;

    assert.deepEqual(await irc.send(call, connected.link), { kind: 'sent' });
    assert.deepEqual(said(server, /^PRIVMSG/), ['PRIVMSG #room :hi']);
  });

  it('does not speak plainly to a server without TLS', async (t) => {
    const server = await scriptedIrc(t);
    const impatient = definitionOf(createIrc({ ...TIMING, registerMs: 300 }), properties);
    const link = adapterLink(ircAccount(server.port, { tls: true, verifyCertificate: false }));

    await assert.rejects(
      impatient.connect?.(link) ?? Promise.resolve(),
      new RegExp(`not registered within 300 ms: no connection over TLS to 127\\.0\\.0\\.1:${server.port}$`),
    );

    assert.equal(link.isOnline, false);
    assert.deepEqual(said(server, /NICK|USER/), []);
  });
});

describe('an IRC account that logs in', () => {
  it('does so by SASL before it is welcomed, with what it was given', async (t) => {
    const server = await scriptedIrc(t, { answer: sasl });
    await online(connect(t, server, { sasl: { account: 'bot', password: secret('pa ss') } }));

    const [given = ''] = said(server, /^AUTHENTICATE (?!PLAIN)/);
    assert.equal(Buffer.from(given.slice(13), 'base64').toString(), 'bot\0bot\0pa ss');
    assert.deepEqual(said(server, /^(CAP END|JOIN|AUTHENTICATE PLAIN)/), [
      'AUTHENTICATE PLAIN',
      'CAP END',
      'JOIN #room',
    ]);
  });

  it('does so with a service where there is no SASL, before it joins', async (t) => {
    const answers = [
      ':NickServ!s@services NOTICE svcbot :You are now identified for \u0002bot\u0002.',
      ':nickserv!s@services NOTICE svcbot :Password accepted -- you are now recognized.',
      ':s 900 svcbot svcbot!u@h bot :You are now logged in as bot',
    ];
    for (const reply of answers) {
      const server = await scriptedIrc(t, { answer: (line) => (/IDENTIFY/.test(line) ? [reply] : undefined) });
      await online(connect(t, server, { nickserv: { ...NICKSERV, account: 'bot' } }));

      assert.deepEqual(said(server, /^(PRIVMSG|JOIN)/), ['PRIVMSG NickServ :IDENTIFY bot pass', 'JOIN #room']);
    }
  });

  it('fails where the service refuses it, and goes on where it does not answer', async (t) => {
    const refusing = await scriptedIrc(t, {
      answer: (line) =>
        /IDENTIFY/.test(line)
          ? [':NickServ!s@services NOTICE svcbot :Invalid password for \u0002svcbot\u0002.']
          : undefined,
    });
    await assert.rejects(connect(t, refusing, { nickserv: NICKSERV }).ended, { code: 'account_failed' });
    assert.deepEqual(said(refusing, /^JOIN/), []);

    const silent = await scriptedIrc(t, {
      // Neither of them is the service.
      answer: (line) =>
        /IDENTIFY/.test(line)
          ? [':ann!u@h NOTICE svcbot :Invalid password', ':NickServ!s@services NOTICE svcbot :Please wait']
          : undefined,
    });
    await online(connect(t, silent, { nickserv: NICKSERV }, unanswered));
    assert.deepEqual(said(silent, /^(PRIVMSG|JOIN)/), ['PRIVMSG NickServ :IDENTIFY pass', 'JOIN #room']);
  });

  it('logs in anew when it has its nick back, and not under a nick that the service does not know', async (t) => {
    for (const [account, first] of [
      [undefined, []],
      ['bot', ['PRIVMSG NickServ :IDENTIFY bot pass']],
    ] as const) {
      const taken = ['svcbot'];
      const server = await scriptedIrc(t, {
        registration: { taken },
        answer: (line) =>
          /IDENTIFY/.test(line) ? [':NickServ!s@services NOTICE svcbot :You are now identified.'] : undefined,
      });
      const nickserv = { ...NICKSERV, ...(account === undefined ? {} : { account }) };
      await online(connect(t, server, { nickserv }));
      const before = said(server, /^PRIVMSG/);
      taken.pop();
      server.send(':svcbot!other@h QUIT :bye\r\n');
      const line = account === undefined ? 'IDENTIFY pass' : 'IDENTIFY bot pass';
      await until(() => said(server, /^PRIVMSG/).length > first.length, { what: 'the login' });

      assert.deepEqual(before, first);
      assert.deepEqual(said(server, /^PRIVMSG/), [...first, `PRIVMSG NickServ :${line}`]);
    }
  });

  it('never writes a password or key that would be more than one word', async (t) => {
    const server = await scriptedIrc(t);
    for (const text of ['two words', 'line\r\nQUIT', ':colon']) {
      const nickserv = { ...NICKSERV, password: secret(text) };
      await assert.rejects(connect(t, server, { nickserv }).ended, { code: 'account_failed' }, text);
    }
    const channelKeys = [{ channel: '#staff', key: secret('a b') }];
    await online(connect(t, server, { channelKeys }));
    assert.deepEqual(said(server, /IDENTIFY|QUIT|#staff/), []);
  });
});

describe('channels', () => {
  it('are joined with their key, each once', async (t) => {
    const server = await scriptedIrc(t);
    const channelKeys = [
      { channel: '#staff', key: secret('k3y') },
      { channel: '#room', key: secret('r00m') },
    ];
    await online(connect(t, server, { channelKeys }));

    assert.deepEqual(said(server, /^JOIN/), ['JOIN #room,#staff r00m,k3y']);
  });

  // Servers end who writes more than some twenty lines at once: Excess Flood.
  it('that are many are joined in few lines, those with keys first', async (t) => {
    const server = await scriptedIrc(t);
    const channels = Array.from({ length: 100 }, (_, i) => `#channel-${i}`);
    const channelKeys = [{ channel: '#staff', key: secret('k3y') }];
    const connected = connect(t, server, { channels, channelKeys });
    await online(connected);

    const lines = said(server, /^JOIN/);
    assert.deepEqual(lines.flatMap(channelsIn), ['#staff', ...channels]);
    assert.deepEqual(
      lines.map((line) => line.split(' ')[2]),
      ['k3y', ...lines.slice(1).map(() => undefined)],
    );
    assert.ok(lines.length < 10, `${lines.length} lines`);
    assert.ok(lines.every((line) => Buffer.byteLength(line) <= 510));
    assert.equal(connected.link.trouble, undefined);
  });

  it('that refuse are asked again until they take us; sends wait for that', async (t) => {
    let isFull = true;
    const server = await scriptedIrc(t, {
      answer: (line) => (isFull && line === 'JOIN #room' ? [':s 471 svcbot #room :Cannot join (+l)'] : undefined),
    });
    const connected = connect(t, server);
    await online(connected);
    const call = { kind: 'post', key: 'k1', conversation: '#room', text: 'hi', buttons: [], files: [] } as const;
    const early = await irc.send(call, connected.link);
    await until(() => said(server, /^JOIN #room/).length > 2, { what: 'another try' });
    isFull = false;
    await until(async () => (await irc.send(call, connected.link)).kind === 'sent', { what: 'the send' });

    assert.equal(early.kind, 'later');
    assert.deepEqual(said(server, /^PRIVMSG/), ['PRIVMSG #room :hi']);
  });
});

function sasl(line: string): readonly string[] | undefined {
  if (line.startsWith('USER')) return [];
  if (line.startsWith('CAP LS')) return [':s CAP * LS :sasl'];
  if (line.startsWith('CAP REQ')) return [':s CAP * ACK :sasl'];
  if (line === 'AUTHENTICATE PLAIN') return ['AUTHENTICATE +'];
  if (line.startsWith('AUTHENTICATE'))
    return [':s 900 svcbot svcbot!u@h bot :You are now logged in', ':s 903 svcbot :ok'];
  if (line === 'CAP END') return [':s 001 svcbot :Welcome'];
  return undefined;
}
