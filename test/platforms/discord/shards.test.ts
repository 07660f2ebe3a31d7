// A bot in many servers: several connections, each with its share of them, and what becomes of their sessions.
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { discordBench, has, textsOf } from '../../support/accounts/discord-bench.ts';
import { until } from '../../support/until.ts';

const IDENTIFY_MS = 300;
const FILL_MS = 200;

describe('several connections', () => {
  it('begin in turns, hear their own servers, and are online once all are', async (t) => {
    const { platform, open, says } = await largeBot(t, { shards: 3 });
    const { gateway, world } = platform;
    gateway.concurrency = 2;
    const link = open();
    await until(() => gateway.connections === 2, { what: 'the first turns' });
    const isEarly = link.isOnline;
    await until(() => link.isOnline, { what: 'the account to be online' });

    for (const text of ['one', 'two', 'three']) says(text);
    platform.says('in private', { channel: world.privateChannel(world.owner).id });
    await has(link, 'one', 'two', 'three', 'in private');

    const identified = gateway.received.filter(({ op }) => op === 2).map(({ d }) => JSON.stringify(d['shard']));
    assert.deepEqual(identified.toSorted(), ['[0,3]', '[1,3]', '[2,3]']);
    assert.deepEqual([isEarly, gateway.hasty, textsOf(link).length], [false, 0, 4]);
  });

  it('are resumed by another process, each behind what is stored of it', async (t) => {
    const { platform, open, account, says } = await largeBot(t, { shards: 2 });
    const first = open();
    await until(() => first.isOnline, { what: 'the first process' });
    for (const text of ['one', 'two']) says(text);
    await has(first, 'one', 'two');

    first.stop();
    await first.ended;
    for (const text of ['three', 'four']) says(text);
    const second = open(first.cursor, { ...account });
    await has(second, 'three', 'four');
    await until(() => second.isOnline, { what: 'the second process' });

    assert.deepEqual([platform.gateway.identifies, platform.gateway.resumes], [2, 2]);
    assert.deepEqual(textsOf(second).map(String).toSorted(), ['four', 'three']);
  });

  it('end together when none is left, and are resumed together', async (t) => {
    const { platform, open, says } = await largeBot(t, { shards: 2 });
    const first = open();
    await until(() => first.isOnline, { what: 'the account' });

    platform.gateway.refuses = 4000;
    platform.gateway.closeWith(4000);
    const end = await first.ended;
    platform.gateway.refuses = undefined;
    for (const text of ['one', 'two']) says(text);
    const second = open(first.cursor);
    await has(second, 'one', 'two');

    assert.match(end?.message ?? '', /closed the connection/);
    assert.equal(platform.gateway.identifies, 2);
  });

  it('fetch what was said while there were no sessions, each from its servers, once', async (t) => {
    const { platform, open, says } = await largeBot(t, { shards: 2 });
    const first = open();
    await until(() => first.isOnline, { what: 'the account' });
    for (const text of ['one', 'two']) says(text);
    await has(first, 'one', 'two');
    first.stop();
    await first.ended;

    platform.gateway.forgetSessions();
    for (const text of ['three', 'four']) says(text);
    platform.requests.length = 0;
    const second = open(first.cursor);
    assert.equal(await second.caughtUp, undefined);

    assert.deepEqual(textsOf(second).map(String).toSorted(), ['four', 'one', 'three', 'two']);
    const asked = platform.requests.map(({ method, path, query }) => `${method} ${path}?${query}`);
    const histories = asked.filter((call) => call.includes('after='));
    assert.equal(new Set(histories).size, histories.length, 'no channel is asked twice');
    assert.equal(asked.filter((call) => call.startsWith('GET /users/@me/guilds')).length, 1);
  });
});

describe('one of several connections', () => {
  it('that is lost is opened again while the others go on, and the account is degraded meanwhile', async (t) => {
    const { platform, open, says, second } = await largeBot(t, { shards: 2 });
    const { gateway } = platform;
    const link = open();
    await until(() => link.isOnline, { what: 'the account' });

    gateway.refuses = 4000;
    gateway.closeWith(4000, second);
    await until(() => link.trouble !== undefined, { what: 'the account to say so' });
    const { trouble } = link;
    for (const text of ['one', 'two', 'three']) says(text); // the second is of the other connection
    await has(link, 'one', 'three');
    const heard = textsOf(link);
    gateway.refuses = undefined;
    await has(link, 'two');
    await until(() => link.trouble === undefined, { what: 'the account to be well' });

    assert.match(trouble ?? '', /a part of the servers: connection \d of 2: .*\(4000\) \(tried again\)/);
    assert.deepEqual(heard, ['one', 'three']);
    assert.deepEqual([gateway.identifies, textsOf(link).length], [2, 3], 'its session is resumed, the other untouched');
  });

  it('that comes back often while the API fails asks for what it missed no oftener than one that came back once', async (t) => {
    const { platform, open, says, second } = await largeBot(t, { shards: 2, fillMs: FILL_MS });
    const { gateway } = platform;
    const link = open();
    await until(() => link.isOnline, { what: 'the account' });
    const asked: number[] = [];
    // oxlint-disable-next-line eslint/no-restricted-properties -- the least of pauses that begin with an answer: a slow machine makes them longer
    platform.isDown = ({ path }) => path === '/users/@me/guilds' && asked.push(performance.now()) > 0;
    for (let back = 1; back <= 4; back += 1) {
      gateway.closeWith(4000, second);
      gateway.forgetSessions();
      if (back === 1) for (const text of ['one', 'two', 'three']) says(text);
      await until(() => gateway.identifies === 2 + back && link.trouble === undefined, { what: 'a new session' });
    }

    const before = asked.length + 2; // one may be under way, and one of the last that came back be due at once
    await until(() => asked.length >= before + 6, { what: 'more tries' });
    const pauses = asked.slice(before).map((at, n) => at - (asked[before + n - 1] ?? 0));
    platform.isDown = () => false;

    assert.ok(Math.min(...pauses) >= FILL_MS * 0.9, `${pauses.map(Math.round)} ms between the tries`);
    await has(link, 'two');
  });

  it('that does not come up leaves the others online, and says so', async (t) => {
    const { platform, open, says, second } = await largeBot(t, { shards: 2 });
    platform.gateway.refusesShard = { shard: second, code: 4008 };
    const link = open();
    await until(() => link.isOnline && link.trouble !== undefined, { what: 'the account' });
    says('one');
    await has(link, 'one');
    platform.gateway.refusesShard = undefined;

    await until(() => link.trouble === undefined, { what: 'the other one' });
  });

  it('that Discord refuses for itself is not tried again, and its remedy is told', async (t) => {
    const { platform, open, says, second } = await largeBot(t, { shards: 2 });
    const { gateway } = platform;
    gateway.refusesShard = { shard: second, code: 4010 };
    const link = open();
    await until(() => link.isOnline && link.trouble !== undefined, { what: 'the account' });
    says('one');
    await has(link, 'one');
    const { trouble } = link;
    gateway.refuses = 4000;
    gateway.closeWith(4000);
    const end = await link.ended;

    assert.match(trouble ?? '', /connection \d of 2: Discord refuses the shard \(4010\) \(update svc/);
    assert.equal(gateway.identifies, 2);
    assert.match(end?.message ?? '', /closed the connection/);
    assert.notEqual(end?.code, 'account_failed');
  });

  it('that Discord refuses for the token ends them all', async (t) => {
    const { platform, open } = await largeBot(t, { shards: 2 });
    const link = open();
    await until(() => link.isOnline, { what: 'the account' });

    platform.gateway.closeWith(4004, 0);

    assert.equal((await link.ended)?.code, 'account_failed');
    await until(() => platform.gateway.connections === 0, { what: 'the other one to end' });
  });
});

describe('the number of connections', () => {
  it('stays while it is near what Discord advises, and the sessions with it', async (t) => {
    const { platform, open } = await largeBot(t, { shards: 1 });
    const first = open();
    await until(() => first.isOnline, { what: 'one connection' });
    first.stop();
    await first.ended;

    platform.gateway.shards = 2;
    const second = open(first.cursor);
    await until(() => second.isOnline, { what: 'the account' });

    assert.deepEqual([platform.gateway.identifies, platform.gateway.resumes], [1, 1]);
  });

  it('grows with the bot, and what was said meanwhile is fetched', async (t) => {
    const { platform, open, says } = await largeBot(t, { shards: 1 });
    const first = open();
    await until(() => first.isOnline, { what: 'one connection' });
    says('before');
    await has(first, 'before');
    first.stop();
    await first.ended;

    platform.gateway.shards = 3;
    for (const text of ['one', 'two', 'three']) says(text);
    const second = open(first.cursor);
    await has(second, 'one', 'two', 'three');
    await until(() => second.isOnline && platform.gateway.connections === 3, { what: 'three connections' });

    assert.deepEqual(
      platform.gateway.received.filter(({ op }) => op === 2).map(({ d }) => (d['shard'] as readonly number[])[1]),
      [1, 3, 3, 3],
    );
  });

  it('is what Discord advises where it wants more than there are', async (t) => {
    const { platform, open } = await largeBot(t, { shards: 1 });
    const { gateway } = platform;
    const first = open();
    await until(() => first.isOnline, { what: 'one connection' });
    first.stop();
    await first.ended;

    gateway.shards = 2;
    gateway.mostGuilds = 2;
    gateway.forgetSessions();
    const second = open(first.cursor);
    const end = await second.ended;
    const third = open(second.cursor);
    await until(() => third.isOnline, { what: 'two connections' });
    third.stop();
    await third.ended;
    gateway.mostGuilds = 0;
    gateway.forgetSessions();
    const failed = await open(third.cursor).ended;

    assert.match(end?.message ?? '', /wants 2 connections/);
    assert.notEqual(end?.code, 'account_failed');
    assert.equal(failed?.code, 'account_failed');
    assert.match(failed?.remedy ?? '', /enable the account again/);
  });
});

/** A bot in three servers, one after the other by their numbers; `says` goes round them. */
async function largeBot(
  t: TestContext,
  { shards, fillMs = 30_000 }: { readonly shards: number; readonly fillMs?: number },
) {
  const bench = await discordBench(t, { timing: { identifyMs: IDENTIFY_MS, fillMs } });
  const { gateway, world } = bench.platform;
  gateway.shards = shards;
  gateway.identifyMs = IDENTIFY_MS - 50;
  const others = [1n, 2n].map((n) => world.addServer((BigInt(world.guild) + (n << 22n)).toString()));
  const channels = [world.channel, ...others.map(({ id }) => id)];
  let count = 0;
  const says = (text: string): void => {
    bench.platform.says(text, { channel: channels[count % channels.length] ?? '' });
    count += 1;
  };
  /** The shard of the second server, where there are two. */
  const second = Number(((BigInt(world.guild) >> 22n) + 1n) % 2n);
  return { ...bench, says, second };
}
