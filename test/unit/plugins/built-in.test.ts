// The built-in plugins as people meet them, on the host of the tests.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { echo } from '../../../worker/plugins/echo/index.ts';
import { help } from '../../../worker/plugins/help/index.ts';
import { ping } from '../../../worker/plugins/ping/index.ts';
import { remind } from '../../../worker/plugins/remind/index.ts';
import type { Commands } from '../../../worker/sdk/index.ts';
import { everyCrash, testBot } from '../../../worker/testing/index.ts';

describe('built-in plugins', () => {
  it('echo says it back as literal text', async () => {
    const bot = await testBot(echo);

    await bot.person('ann').says('/echo **hello** @everyone');

    assert.deepEqual(bot.shown('dm-ann'), ['\\*\\*hello\\*\\* @everyone']);
  });

  it('ping answers with the time that the line waited', async () => {
    const bot = await testBot(ping);

    await bot.person('ann').says('/ping');
    await bot.person('bob').says('ping');

    assert.match(bot.shown('dm-ann')[0] ?? '', /^pong: the line waited \d+ ms$/);
    assert.match(bot.shown('dm-bob')[0] ?? '', /^pong: the line waited \d+ ms$/);
  });

  it('remind reminds once, killed at any point', async () => {
    await everyCrash(
      () => testBot(remind),
      async (bot) => {
        await bot.person('ann').says('remind me in 10m to drink tea');
        await bot.restart();
        await bot.clock.advance('11m');
      },
      (bot, point) =>
        assert.deepEqual(bot.shown('dm-ann'), ['I will remind you in 10m.', '@ann reminder: drink tea'], point),
    );
  });

  it('remind refuses what lies further ahead than the configuration allows', async () => {
    const bot = await testBot(remind, { config: { maxDays: 7 } });

    await bot.person('ann').says('/remind 8d tea');

    assert.deepEqual(bot.shown('dm-ann'), ['At most 7 days.']);
  });

  it('help answers a command that is not there, where the bot is spoken to, and nothing else', async () => {
    const commands: Commands = {
      list: () => [
        { name: 'help', aliases: [], summary: '', usage: '/help [command]', slot: 'help', who: 'anyone' },
        { name: 'remind', aliases: [], summary: '', usage: '/remind <in>', slot: 'remind', who: 'anyone' },
        { name: 'erase', aliases: [], summary: '', usage: '/erase', slot: 'own', who: 'operator' },
      ],
    };
    const bot = await testBot(help, { parts: { commands } });
    const lines = ['/remnid 10m', '/qqqq', '/eras', 'hello', '/usr/bin/env is there', '/ x', '//', '/cancel', '/1/2'];

    for (const line of lines) await bot.person('ann').says(line);
    await bot.person('bob', { in: 'room' }).says('/remnid');
    await bot.person('bob', { in: 'room' }).says('/remnid', { addressed: true });
    const silent = await testBot(help, { parts: { commands }, config: { unknown: false } });
    await silent.person('ann').says('/remnid');

    assert.deepEqual(bot.shown('dm-ann'), [
      'There is no command /remnid. Did you mean /remind?',
      'There is no command /qqqq. /help lists those there are.',
      'There is no command /eras. /help lists those there are.',
    ]);
    assert.deepEqual(
      [bot.shown('room'), silent.shown('dm-ann')],
      [['There is no command /remnid. Did you mean /remind?'], []],
    );
  });

  it('help lists the commands of the host and explains one', async () => {
    const commands: Commands = {
      list: () => [
        { name: 'help', aliases: [], summary: 'Lists', usage: '/help [command]', slot: 'help', who: 'anyone' },
      ],
    };
    const bot = await testBot(help, { parts: { commands } });

    await bot.person('ann').says('/help');
    await bot.person('ann').says('/help nothing');

    assert.deepEqual(bot.shown('dm-ann'), ['/help \\[command\\]  Lists', 'There is no command nothing.']);
  });
});
