// The IRC adapter at InspIRCd: what that server does otherwise than ngircd. The host is a stub here.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { account as properties } from '../../../worker/adapters/irc/config.ts';
import { TIMING } from '../../../worker/adapters/irc/connection/timing.ts';
import { createIrc } from '../../../worker/adapters/irc/index.ts';
import { md } from '../../../worker/sdk/index.ts';
import { secret } from '../../../worker/sdk/secret.ts';
import { adapterLink, definitionOf } from '../../support/accounts/adapter-link.ts';
import { inspircd, inspircdMissing } from '../../support/irc/inspircd.ts';
import { ircAccount } from '../../support/irc/irc-account.ts';
import { ircBot, ircText } from '../../support/irc/irc-bot.ts';
import { ircPerson } from '../../support/irc/irc-person.ts';
import { until } from '../../support/until.ts';

const skip = inspircdMissing();
const irc = definitionOf(createIrc({ ...TIMING, regainMs: 200, rejoinMs: 50, confirmMs: 20_000 }), properties);

describe('IRC adapter at InspIRCd', { skip, timeout: 590_000, concurrency: 3 }, () => {
  it('takes lines with the ids and times of the server, in channels and in private, and not its own echo', async (t) => {
    const server = await inspircd(t);
    const bot = await ircBot(t, irc, { port: server.port });
    const ann = await ircPerson(t, server.port, 'Ann');
    await ann.join('#room');

    const results = [await bot.post('k1', '#room', 'hello'), await bot.post('k2', 'nobody', 'hello?')];
    ann.says('#room', 'svcbot: /ping');
    ann.says('svcbot', 'in private');
    await until(() => bot.messages().length === 2, { what: 'two messages' });

    assert.deepEqual(
      results.map(({ kind }) => kind),
      ['sent', 'refused'],
    );
    assert.deepEqual(
      bot.messages().map(({ conversation, user, text, addressed }) => [conversation.id, user.id, text, addressed]),
      [
        ['#room', 'ann', '/ping', true],
        ['ann', 'ann', 'in private', true],
      ],
    );
    // Not a number of ours: the server's msgid.
    for (const { id } of bot.messages()) assert.match(id, /^\w+~\d+~\d+$/);
  });

  it('takes once what a channel with a history tells again when it comes back', async (t) => {
    const server = await inspircd(t);
    const ann = await ircPerson(t, server.port, 'ann');
    await ann.join('#room');
    ann.raw('MODE #room +H 50:1h');
    const before = await ircBot(t, irc, { port: server.port });
    ann.says('#room', 'one');
    await until(() => before.messages().length === 1, { what: 'the first line' });
    await before.post('k', '#room', 'my own');
    before.link.stop();
    await before.ended;
    ann.says('#room', 'two');
    ann.raw('PING :all');
    await until(() => ann.lines.some((line) => line.endsWith(':all')), { what: 'the server to have it' });

    const after = await ircBot(t, irc, { port: server.port });
    ann.says('#room', 'three');
    await until(() => after.messages().some(({ text }) => text === 'three'), { what: 'the last line' });

    const known = new Set(before.messages().map(({ id }) => id));
    const fresh = after.messages().filter(({ id }) => !known.has(id));
    assert.deepEqual(
      fresh.map(({ text }) => text),
      ['two', 'three'],
    );
    assert.ok((fresh[0]?.sentAt ?? 0) <= (fresh[1]?.sentAt ?? 0));
  });

  it('stays within the flood limit of the server: every line arrives, none ends the connection', async (t) => {
    const server = await inspircd(t, { threshold: 10 });
    const bot = await ircBot(t, irc, { port: server.port, burstLines: 8, linesPerSecond: 1 });
    const ann = await ircPerson(t, server.port, 'ann');
    await ann.join('#room');
    const texts = Array.from({ length: 12 }, (_, i) => `line ${i}`);

    const results = await Promise.all(texts.map((text, i) => bot.post(`k${i}`, '#room', text)));
    await until(() => ann.heard('svcbot', '#room').length === 12, { what: 'all lines' });

    assert.deepEqual(ann.heard('svcbot', '#room'), texts);
    assert.ok(results.every(({ kind }) => kind === 'sent'));
    assert.ok(bot.isRunning());
  });

  it('is refused where it may not speak, comes back after a kick, and gets its nick back', async (t) => {
    const server = await inspircd(t);
    const thief = await ircPerson(t, server.port, 'svcbot');
    const ann = await ircPerson(t, server.port, 'ann');
    await ann.join('#room');
    const bot = await ircBot(t, irc, { port: server.port });

    ann.raw('MODE #room +m');
    await until(() => ann.lines.some((line) => / MODE #room :?\+m/.test(line)), {
      what: 'the channel to be moderated',
    });
    assert.equal((await bot.post('k1', '#room', 'hello?')).kind, 'refused');
    ann.raw('MODE #room -m');
    await thief.quit();
    let posts = 0;
    await until(
      async () => (await bot.post(`me ${(posts += 1)}`, '#room', 'me')) && ann.heard('svcbot', '#room').includes('me'),
      {
        what: 'its own nick',
        everyMs: 50,
      },
    );
    ann.raw('KICK #room svcbot :out');
    await until(() => ann.lines.some((line) => line.includes('KICK #room svcbot')), { what: 'the kick' });
    await until(async () => (await bot.post('k3', '#room', 'back')).kind === 'sent', {
      what: 'its return',
      everyMs: 50,
    });
    await until(() => ann.heard('svcbot', '#room').includes('back'), { what: 'the post' });
  });

  it('says marks as codes, and without them where the channel blocks them (mode +c)', async (t) => {
    const server = await inspircd(t);
    const ann = await ircPerson(t, server.port, 'ann');
    await ann.join('#room');
    const bot = await ircBot(t, irc, { port: server.port });
    const text = ircText(irc, md`plain\n**bold** _it_ ~~no~~ \`x\``);

    const results = [await bot.post('k1', '#room', text)];
    ann.raw('MODE #room +c');
    await until(() => ann.lines.some((line) => / MODE #room :?\+c/.test(line)), { what: 'codes to be blocked' });
    for (const key of ['k2', 'k3']) results.push(await bot.post(key, '#room', text));
    await until(() => ann.heard('svcbot', '#room').length >= 6, { what: 'all lines' });

    assert.deepEqual(
      results.map(({ kind }) => kind),
      ['sent', 'sent', 'sent'],
    );
    const [, coded = ''] = text.split('\n');
    const bare = ['plain', 'bold it no x'];
    assert.deepEqual(ann.heard('svcbot', '#room'), ['plain', coded, ...bare, ...bare]);
  });

  it('fails the account for a wrong password of the server, loses the connection with the server, and works again with it', async (t) => {
    const server = await inspircd(t, { password: 'sesame' });
    const password = secret('sesame');
    const wrong = adapterLink(ircAccount(server.port, { password: secret('open') }));
    await assert.rejects(irc.connect?.(wrong) ?? Promise.resolve(), { code: 'account_failed' });

    const first = await ircBot(t, irc, { port: server.port, password });
    await server.kill();
    await assert.rejects(first.ended, /connection lost/);
    await server.start();
    const again = await ircBot(t, irc, { port: server.port, password });

    assert.equal((await again.post('k', '#room', 'here')).kind, 'sent');
  });

  it('delivers a line of many bytes whole, in pieces that the server does not cut', async (t) => {
    const server = await inspircd(t);
    const bot = await ircBot(t, irc, { port: server.port, nick: 'a-long-nick-here' });
    const ann = await ircPerson(t, server.port, 'ann');
    await ann.join('#room');
    const text = Array.from({ length: 300 }, (_, i) => `wört${i}`).join(' ');

    await bot.post('k', '#room', text);

    await until(() => ann.heard('a-long-nick-here', '#room').join(' ') === text, { what: 'all of the text' });
  });
});
