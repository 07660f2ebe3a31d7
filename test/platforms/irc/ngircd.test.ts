// The IRC adapter against a real server and people on plain sockets. The host is a stub here; the story with the whole host is below it.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { account as properties } from '../../../worker/adapters/irc/config.ts';
import { TIMING } from '../../../worker/adapters/irc/connection/timing.ts';
import { createIrc } from '../../../worker/adapters/irc/index.ts';
import { md } from '../../../worker/sdk/index.ts';
import { secret } from '../../../worker/sdk/secret.ts';
import { adapterLink, definitionOf } from '../../support/accounts/adapter-link.ts';
import { ircAccount } from '../../support/irc/irc-account.ts';
import { ircBot, ircText } from '../../support/irc/irc-bot.ts';
import { ircPerson } from '../../support/irc/irc-person.ts';
import { ngircd, ngircdMissing } from '../../support/irc/ngircd.ts';
import { until } from '../../support/until.ts';

const skip = ngircdMissing();
const timed = (changes: Partial<typeof TIMING>) =>
  definitionOf(createIrc({ ...TIMING, confirmMs: 60_000, ...changes }), properties);
// Long enough away after a kick to be seen away by a busy machine: it joins again whenever it asks for its nick, too.
const irc = timed({ rejoinMs: 5_000 });

describe('IRC adapter at ngircd', { skip, timeout: 900_000, concurrency: 5 }, () => {
  it('takes lines in channels and in private, and knows when it is spoken to', async (t) => {
    const server = await ngircd(t);
    const bot = await ircBot(t, irc, { port: server.port });
    const ann = await ircPerson(t, server.port, 'Ann');
    await ann.join('#room');

    ann.says('#room', 'hello all');
    ann.says('#room', 'svcbot: /ping');
    ann.says('svcbot', 'in private');
    await until(() => bot.messages().length === 3, { what: 'three messages' });

    assert.deepEqual(
      bot
        .messages()
        .map(({ conversation, user, text, addressed }) => [
          conversation.id,
          conversation.kind,
          user.id,
          user.name,
          text,
          addressed,
        ]),
      [
        ['#room', 'group', 'ann', 'Ann', 'hello all', false],
        ['#room', 'group', 'ann', 'Ann', '/ping', true],
        ['ann', 'private', 'ann', 'Ann', 'in private', true],
      ],
    );
    assert.equal(new Set(bot.link.arrivals.map(({ id }) => id)).size, bot.link.arrivals.length);
  });

  it('is sent when the server has confirmed it; several lines stay several lines and nothing can be injected', async (t) => {
    const server = await ngircd(t);
    const bot = await ircBot(t, irc, { port: server.port });
    const ann = await ircPerson(t, server.port, 'ann');
    await ann.join('#room');

    const results = [
      await bot.post('k1', '#room', 'one\r\nQUIT :gone\n\nthree\u0000\u0001VERSION\u0001'),
      await bot.post('k2', 'ann', 'just you'),
      await bot.post('k3', 'nobody', 'hello?'),
      await bot.post('k4', '#room x', 'hello?'),
    ];

    await until(() => ann.heard('svcbot').length > 0, { what: 'the last message' });
    assert.deepEqual(
      results.map(({ kind }) => kind),
      ['sent', 'sent', 'refused', 'refused'],
    );
    assert.deepEqual(ann.heard('svcbot', '#room'), ['one', 'QUIT :gone', 'threeVERSION']);
    assert.deepEqual(ann.heard('svcbot'), ['just you']);
    assert.ok(bot.isRunning());
  });

  it('delivers a line of many bytes whole, in pieces that the server does not cut', async (t) => {
    const server = await ngircd(t);
    const bot = await ircBot(t, irc, { port: server.port, nick: 'a-long-nick-here' });
    const ann = await ircPerson(t, server.port, 'ann');
    await ann.join('#room');
    const text = Array.from({ length: 300 }, (_, i) => `wört${i}`).join(' ');

    await bot.post('k', '#room', text);

    await until(() => ann.heard('a-long-nick-here', '#room').join(' ') === text, { what: 'all of the text' });
  });

  it('says marks as codes, which reach people, and hears those of people', async (t) => {
    const server = await ngircd(t);
    const bot = await ircBot(t, irc, { port: server.port });
    const ann = await ircPerson(t, server.port, 'ann');
    await ann.join('#room');

    await bot.post('k', '#room', ircText(irc, md`**bold** _it_ ~~no~~ \`x\``));
    ann.says('#room', '\u000304svcbot\u0003: \u0002now\u0002');
    await until(() => ann.heard('svcbot', '#room').length > 0 && bot.messages().length > 0, { what: 'both lines' });

    assert.deepEqual(ann.heard('svcbot', '#room'), ['\u0002bold\u0002 \u001dit\u001d \u001eno\u001e \u0011x\u0011']);
    const [heard] = bot.messages();
    assert.deepEqual([heard?.text, heard?.addressed], [[{ kind: 'text', text: 'now', marks: ['bold'] }], true]);
  });

  it('takes another nick when its own is in use, and gets it back', async (t) => {
    const server = await ngircd(t);
    const thief = await ircPerson(t, server.port, 'svcbot');
    const bot = await ircBot(t, timed({ regainMs: 200 }), { port: server.port });
    const ann = await ircPerson(t, server.port, 'ann');

    await bot.post('k1', 'ann', 'first');
    await thief.quit();
    await until(() => ann.lines.some((line) => line.startsWith(':svcbot_!')), { what: 'the first post' });
    let posts = 0; // each is one of its own: what was sent under a key is not sent again
    await until(
      async () =>
        (await bot.post(`again ${(posts += 1)}`, 'ann', 'again')).kind === 'sent' &&
        ann.heard('svcbot').includes('again'),
      { what: 'its own nick', everyMs: 50 },
    );

    assert.deepEqual(ann.heard('svcbot_')[0], 'first');
  });

  it('comes back to a channel after a kick; until then posts there wait', async (t) => {
    const server = await ngircd(t);
    const ann = await ircPerson(t, server.port, 'ann');
    await ann.join('#room');
    const bot = await ircBot(t, irc, { port: server.port });

    ann.raw('KICK #room svcbot :out');
    let posts = 0;
    await until(async () => (await bot.post(`k${(posts += 1)}`, '#room', 'still here?')).kind === 'later', {
      what: 'the kick',
      everyMs: 1,
    });
    await until(async () => (await bot.post('back', '#room', 'back')).kind === 'sent', { what: 'the return' });

    await until(() => ann.heard('svcbot', '#room').includes('back'), { what: 'the post' });
  });

  it('says that the connection is lost when the server is killed, fails posts that are not confirmed, and works again with the server', async (t) => {
    const server = await ngircd(t);
    const first = await ircBot(t, irc, { port: server.port });
    const ann = await ircPerson(t, server.port, 'ann');

    await server.kill();
    await assert.rejects(first.ended, /connection lost/);
    assert.equal((await first.post('k1', 'ann', 'anyone?')).kind, 'later');
    await assert.rejects(irc.connect?.(first.link) ?? Promise.resolve(), /connection lost/);
    await server.start();
    const again = await ircBot(t, irc, { port: server.port });
    const bob = await ircPerson(t, server.port, 'bob');
    await again.post('k2', 'bob', 'here');

    await until(() => bob.heard('svcbot').length > 0, { what: 'the post' });
    assert.deepEqual([bob.heard('svcbot'), ann.heard('svcbot')], [['here'], []]);
  });

  it('keeps every line that was read while storing fails, in order, and stores the rest when it is ended', async (t) => {
    const server = await ngircd(t);
    let isFull = true;
    const bot = await ircBot(t, irc, {
      port: server.port,
      store: () => (isFull ? Promise.reject(new Error('disk full')) : Promise.resolve()),
    });
    const ann = await ircPerson(t, server.port, 'ann');

    for (let i = 0; i < 5; i++) ann.says('svcbot', `line ${i}`);
    ann.raw('PING :all');
    await until(() => ann.lines.some((line) => line.includes('PONG') && line.endsWith(':all')), {
      what: 'the server to have all lines',
    });
    await bot.post('k', 'ann', 'heard');
    isFull = false;
    bot.link.stop();
    await bot.ended;

    assert.deepEqual(
      bot.messages().map(({ text }) => text),
      ['line 0', 'line 1', 'line 2', 'line 3', 'line 4'],
    );
  });

  it('resolves when it is told to end, and leaves politely', async (t) => {
    const server = await ngircd(t);
    const bot = await ircBot(t, irc, { port: server.port });
    const ann = await ircPerson(t, server.port, 'ann');
    await ann.join('#room');

    bot.link.stop();
    await bot.ended;

    await until(() => ann.lines.some((line) => /^:svcbot!\S+ QUIT/.test(line)), { what: 'QUIT' });
  });

  it('fails the account for a nick that the server does not take, and does not loop', async (t) => {
    const server = await ngircd(t);
    const link = adapterLink(ircAccount(server.port, { nick: 'x'.repeat(30) }));

    await assert.rejects(irc.connect?.(link) ?? Promise.resolve(), { code: 'account_failed' });
  });

  it('fails the account for a password that the server does not take, which ngircd says by an ERROR alone', async (t) => {
    const server = await ngircd(t);
    const link = adapterLink(ircAccount(server.port, { password: secret('of another server') }));

    await assert.rejects(irc.connect?.(link) ?? Promise.resolve(), { code: 'account_failed' });
  });
});
