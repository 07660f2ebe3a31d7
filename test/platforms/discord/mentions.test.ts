// Who is meant in a server: the bot by its name, and by the role that Discord made for it; heard as it is said, and after an absence.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { discordBench, has } from '../../support/accounts/discord-bench.ts';
import { until } from '../../support/until.ts';

describe('discord: the role of the bot', () => {
  it('means the bot, and who owns the server administers it, also in what was missed', async (t) => {
    const { platform, open, account } = await discordBench(t);
    const { gateway, world } = platform;
    const first = open();
    await until(() => first.isOnline, { what: 'the account to be online' });
    platform.says(`<@&${world.botRole}> live`, { author: world.owner });
    platform.says('<@&539082325061836112> to another bot');
    await has(first, 'live', '<@&539082325061836112> to another bot');
    first.stop();
    await first.ended;
    gateway.forgetSessions();
    platform.says(`<@&${world.botRole}> missed`, { author: world.owner });

    const second = open(first.cursor, { ...account });
    await has(second, 'missed');

    const heard = [...first.arrivals, ...second.arrivals.slice(-1)];
    assert.deepEqual(
      heard.map((one) => one.kind === 'message' && [one.text, one.addressed, one.user.admin]),
      [
        ['live', true, true],
        ['<@&539082325061836112> to another bot', false, false],
        ['missed', true, true],
      ],
    );
  });
});

describe('discord: who wanted something during an absence', () => {
  it('administers by their roles, which the history does not tell; nobody else is asked for', async (t) => {
    const { platform, open, absent, account } = await discordBench(t);
    const { world } = platform;
    const first = await absent();
    const boss = { author: '80351110224678001', member: { roles: [world.adminRole] } };
    platform.says('/stop one', boss);
    platform.says(`<@${world.bot.id}> stop`, boss);
    platform.says('/stop it', { author: '80351110224678002', member: { roles: [] } });
    platform.says('/stop all', { author: '80351110224678003' });
    platform.says('just talk', { author: '80351110224678004', member: { roles: [world.adminRole] } });

    const second = open(first.cursor, { ...account });
    await has(second, 'just talk');

    assert.deepEqual(
      second.arrivals.map((one) => one.kind === 'message' && [one.text, one.user.admin]),
      [
        ['/stop one', true],
        ['stop', true],
        ['/stop it', false],
        ['/stop all', false],
        ['just talk', false],
      ],
    );
    const asked = platform.calls.filter((call) => call.includes('/members/')).map((call) => call.slice(-1));
    assert.deepEqual(asked, ['1', '2', '3']);
  });
});
