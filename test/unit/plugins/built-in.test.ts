// The built-in plugins as people meet them, on the host of the tests.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { echo } from '../../../worker/plugins/echo/index.ts';
import { help } from '../../../worker/plugins/help/index.ts';
import { ping } from '../../../worker/plugins/ping/index.ts';
import { remind } from '../../../worker/plugins/remind/index.ts';
import type { Commands } from '../../../worker/sdk/index.ts';
import { everyCrash, testBot } from '../../../worker/testing/index.ts';
import { someCrashes } from '../../support/some-crashes.ts';

/** Without the signs that escape markup. */
const plain = (texts: readonly string[]): readonly string[] => texts.map((text) => text.replaceAll('\\', ''));

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

  it('remind takes times in words, in the zone of the host, wherever they stand', async () => {
    const bot = await testBot(remind, { startAt: '2026-11-27T09:00:00Z' });
    const ann = bot.person('ann');

    for (const line of [
      '/remind in 5 minutes drink tea',
      '/remind call Bob tomorrow at 9',
      'remind me to wake up at 6pm',
    ])
      await ann.says(line);
    await bot.clock.advance('5m');
    await ann.says('/remind soon sleep');
    await ann.says('/remind yesterday sleep');

    const expected = 'when: expected a time like "in 5 minutes" or "tomorrow at 9"';
    assert.deepEqual(plain(bot.shown('dm-ann')), [
      'I will remind you in 5m.',
      'I will remind you on Sat 28 Nov, 09:00 (UTC), in 1d.',
      'I will remind you on Fri 27 Nov, 18:00 (UTC), in 9h.',
      '@ann reminder: drink tea',
      `${expected}, got "soon sleep"\nUsage: /remind <when> <text…>`,
      'That time is over.',
    ]);
  });

  it('remind lists and cancels what waits, in its own conversation, over restarts and kills', async () => {
    await someCrashes({
      make: () => testBot(remind, { startAt: '2026-11-27T09:00:00Z' }),
      async story(bot) {
        const ann = bot.person('ann', { in: 'room' });
        await ann.says('/remind 20m tea');
        await ann.says('/remind 10m milk');
        await bot.person('bob', { in: 'room' }).says('/remind 30m stand up');
        await ann.says('/remind list');
        await bot.restart();
        await ann.says('/remind cancel 1');
        await ann.says('/remind cancel 1');
        await ann.says('/remind 40m bread');
        await ann.says('/remind list');
        await bot.person('cid', { in: 'room' }).says('/reminders');
        await bot.clock.advance('30m');
      },
      check: (bot, point) =>
        assert.deepEqual(
          plain(bot.shown('room')),
          [
            'I will remind you in 20m.',
            'I will remind you in 10m.',
            'I will remind you in 30m.',
            '2) Fri 27 Nov, 09:10 (UTC), in 10m: milk\n1) Fri 27 Nov, 09:20 (UTC), in 20m: tea',
            'Reminder 1 is cancelled: tea',
            'You have no reminder 1 here. /remind list shows those that wait.',
            'I will remind you in 40m.',
            '2) Fri 27 Nov, 09:10 (UTC), in 10m: milk\n3) Fri 27 Nov, 09:40 (UTC), in 40m: bread',
            'No reminder waits for you here.',
            '@ann reminder: milk',
            '@bob reminder: stand up',
          ],
          point,
        ),
    });
  });

  it('remind shows the reminders of other conversations in private alone', async () => {
    const bot = await testBot(remind, { startAt: '2026-11-27T09:00:00Z' });

    await bot.person('ann', { in: 'room' }).says('/remind 2h tea');
    await bot.person('ann', { in: 'other' }).says('/remind list');
    await bot.person('ann', { in: 'other' }).says('/remind cancel 1');
    await bot.person('ann').says('/remind list');
    const command = { kind: 'command', name: 'remind', args: {}, sentAt: 0 } as const;
    const at = {
      conversation: { id: 'dm-ann', kind: 'private' },
      user: { id: 'ann', name: 'Ann', admin: false },
    } as const;
    await bot.arrive({ id: 'c1', ...command, ...at, line: 'list' });
    await bot.arrive({ id: 'c2', ...command, ...at, line: '  cancel  1' });

    assert.deepEqual(plain(bot.shown('other')), [
      'No reminder waits for you here.',
      'You have no reminder 1 here. /remind list shows those that wait.',
    ]);
    assert.deepEqual(plain(bot.shown('dm-ann')), [
      '1) Fri 27 Nov, 11:00 (UTC), in 2h: tea',
      '1) Fri 27 Nov, 11:00 (UTC), in 2h: tea',
      'Reminder 1 is cancelled: tea',
    ]);
  });

  it('remind refuses what lies further ahead than the configuration allows', async () => {
    const bot = await testBot(remind, { config: { maxDays: 7 } });

    await bot.person('ann').says('/remind 8d tea');

    assert.deepEqual(bot.shown('dm-ann'), ['At most 7 days.']);
  });

  it('help answers a command that is not there, where the bot is spoken to, and nothing else', async () => {
    const commands: Commands = {
      list: () => [
        {
          name: 'help',
          aliases: [],
          summary: '',
          usage: '/help [command]',
          args: [],
          examples: [],
          slot: 'help',
          who: 'anyone',
        },
        {
          name: 'remind',
          aliases: [],
          summary: '',
          usage: '/remind <in>',
          args: [],
          examples: [],
          slot: 'remind',
          who: 'anyone',
        },
        {
          name: 'erase',
          aliases: [],
          summary: '',
          usage: '/erase',
          args: [],
          examples: [],
          slot: 'own',
          who: 'operator',
        },
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
        {
          name: 'help',
          aliases: [],
          summary: 'Lists',
          usage: '/help [command]',
          args: [],
          examples: [],
          slot: 'help',
          who: 'anyone',
        },
      ],
    };
    const bot = await testBot(help, { parts: { commands } });

    await bot.person('ann').says('/help');
    await bot.person('ann').says('/help nothing');

    assert.deepEqual(bot.shown('dm-ann'), ['/help \\[command\\]  Lists', 'There is no command nothing.']);
  });
});
