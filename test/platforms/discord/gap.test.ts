// A gap that takes long to be filled: under load, and over lives that end before they are through.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { discordBench, has, textsOf } from '../../support/accounts/discord-bench.ts';
import { until } from '../../support/until.ts';

const HISTORY = /^GET .*\/messages$/;
/** More than wait to be stored. */
const MANY = 10_500;
const BURST = 100;

describe('a gap that takes long', () => {
  it('keeps no more waiting than fit: what is said now is stored, and the fetching goes on', {
    timeout: 60_000,
  }, async (t) => {
    const { platform, open, absent, account } = await discordBench(t);
    const { gateway, world } = platform;
    const first = await absent();
    platform.says('missed');
    let goOn = (): void => {};
    const slow = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    platform.next(HISTORY, { slow });

    const second = open(first.cursor, { ...account });
    await until(() => second.isOnline, { what: 'the second process' });
    for (let n = 0; n < MANY; n += 1) {
      gateway.dispatch('TYPING_START', { channel_id: world.channel, guild_id: world.guild });
      if (n % BURST === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    platform.says('now');
    await has(second, 'now');
    const early = textsOf(second);
    goOn();
    await has(second, 'missed');

    assert.deepEqual(early, ['now']);
    assert.deepEqual([gateway.identifies, gateway.connections], [2, 1]);
  });

  it('is filled from where the life before has come, also where each begins a session of its own', async (t) => {
    const { platform, open, account } = await discordBench(t);
    const { gateway, world } = platform;
    const channels = [world.channel, ...['A', 'B'].map(() => world.addChannel(world.snowflake()).id)];
    let link = open();
    await until(() => link.isOnline, { what: 'the first process' });
    link.stop();
    await link.ended;
    for (const channel of channels)
      for (let n = 0; n < 250; n += 1) world.add({ channel_id: channel, author: PERSON, content: `${channel} ${n}` });
    const old = world.messages.map(({ content }) => content);

    const heard = new Set<unknown>();
    const live = async (end: (next: typeof link) => Promise<unknown>): Promise<void> => {
      gateway.forgetSessions();
      for (const channel of channels) platform.says(`${channel} before life ${gateway.identifies}`, { channel });
      const next = open(link.cursor, { ...account });
      await end(next);
      next.stop();
      await next.ended;
      for (const text of textsOf(next)) heard.add(text);
      link = next;
    };
    for (let life = 1; life <= 5; life += 1)
      await live(() => {
        for (let page = 1; page <= 3; page += 1) platform.next(HISTORY, { slow: Promise.resolve() });
        platform.next(HISTORY, 'hold');
        return until(() => platform.held === life, { what: 'its death' });
      });
    const left = old.filter((text) => !heard.has(text));
    await live(async (next) => assert.equal(await next.caughtUp, undefined));

    assert.deepEqual(left, [], 'three pages a life');
    const said = world.messages.map(({ content }) => content);
    assert.deepEqual(
      said.filter((text) => !heard.has(text)),
      [],
      'what a session was told that did not last, too',
    );
  });

  it('goes past forums, which hold threads and no messages, and fetches what their threads say', async (t) => {
    const { platform, open, absent, account } = await discordBench(t);
    const { world } = platform;
    const first = await absent();
    const forum = world.addChannel('245027906669510667', { type: 15 });
    const thread = world.addChannel(world.snowflake(), { type: 11, parent_id: forum.id });
    platform.says('in the forum', { channel: thread.id });
    forum.last_message_id = thread.id;
    platform.says('missed');

    const second = open(first.cursor, { ...account });

    assert.equal(await second.caughtUp, undefined);
    assert.deepEqual(textsOf(second), ['missed', 'in the forum']);
  });

  it('resumes the session that it has begun, when it is cut before it is through', async (t) => {
    const { platform, open, absent, account } = await discordBench(t);
    const first = await absent();
    platform.says('missed');
    platform.next(/^GET \/users\/@me\/guilds$/, 'hold');

    const second = open(first.cursor, { ...account });
    await until(() => platform.held > 0, { what: 'the fetching' });
    second.stop();
    await second.ended;
    platform.says('between');
    const third = open(second.cursor, { ...account });
    await has(third, 'missed', 'between');

    assert.deepEqual(
      [platform.gateway.identifies, platform.gateway.resumes],
      [2, 2],
      'the first was for one that is over',
    );
  });
});

const PERSON = { id: '80351110224678912', username: 'ann' } as const;
