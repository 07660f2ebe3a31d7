// Sessions of the gateway: resumed also by another process, over connections that break or fall silent, and what is fetched after a gap.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Arrival } from '../../../worker/sdk/index.ts';
import { discordBench, has, textsOf } from '../../support/accounts/discord-bench.ts';
import { until } from '../../support/until.ts';

const MESSAGE_CONTENT = 1 << 15;

describe('a session', () => {
  it('begins with the intents of the account, and tells what is said', async (t) => {
    const { platform, open } = await discordBench(t);
    const link = open();
    await until(() => link.isOnline, { what: 'the account to be online' });

    platform.says('hello');
    platform.says('boss', { author: platform.world.owner });
    await has(link, 'hello', 'boss');

    const [identify] = platform.gateway.received;
    assert.equal(identify?.d['intents'], (1 << 0) | (1 << 9) | (1 << 10) | (1 << 12) | (1 << 13) | MESSAGE_CONTENT);
    assert.deepEqual(
      link.arrivals.map(({ user }) => user.admin),
      [false, true],
    );
    assert.ok(!JSON.stringify([link.arrivals, link.logs, link.cursor]).includes(platform.token));
  });

  it('is resumed by another process, which hears what was not stored and what was said in between, once', async (t) => {
    const { platform, open, account } = await discordBench(t);
    const first = open();
    await until(() => first.isOnline, { what: 'the first process' });
    platform.says('one');
    await has(first, 'one');
    const { cursor } = first;

    first.stop();
    await first.ended;
    platform.says('two');
    const second = open(cursor, { ...account });
    await has(second, 'two');
    platform.says('three');
    await has(second, 'three');

    assert.deepEqual([textsOf(first), textsOf(second)], [['one'], ['two', 'three']]);
    assert.deepEqual([platform.gateway.identifies, platform.gateway.resumes], [1, 1]);
  });

  it('goes on when Discord asks to come again and when a connection is cut: online all the time, nothing lost, nothing twice', async (t) => {
    const { platform, open } = await discordBench(t);
    const link = open();
    await until(() => link.isOnline, { what: 'the account to be online' });
    let isOver = false;
    void link.ended.then(() => {
      isOver = true;
    });

    const breaks = [
      () => platform.gateway.askToReconnect(),
      () => platform.gateway.cut(),
      () => platform.gateway.closeWith(4000),
    ];
    for (const [round, goes] of breaks.entries()) {
      goes();
      platform.says(`during ${round}`);
      await until(() => platform.gateway.resumes > round, { what: 'a resume' });
      platform.says(`after ${round}`);
      await has(link, `during ${round}`, `after ${round}`);
    }

    assert.deepEqual(
      textsOf(link),
      [0, 1, 2].flatMap((round) => [`during ${round}`, `after ${round}`]),
    );
    assert.deepEqual([isOver, platform.gateway.identifies], [false, 1]);
  });

  it('is resumed when a connection falls silent: its heartbeats are not acknowledged any more', async (t) => {
    const { platform, open } = await discordBench(t);
    platform.gateway.heartbeatMs = 1_000;
    const link = open();
    await until(() => link.isOnline && platform.gateway.heartbeats > 0, { what: 'the account to be online' });

    platform.gateway.isZombie = true;
    await until(() => platform.gateway.resumes > 0, { what: 'a resume' });
    platform.gateway.isZombie = false;
    platform.says('still there');
    await has(link, 'still there');

    assert.equal(platform.gateway.identifies, 1);
  });

  for (const [text, ends] of [
    ['no JSON', false],
    ['null', false],
    ['{"op":9,"d":null}', true],
    ['{"op":0,"t":"READY","s":9}', true],
  ] as const)
    it(`is harmed by nothing that the gateway says: ${text}`, async (t) => {
      const { platform, open } = await discordBench(t);
      const link = open();
      await until(() => link.isOnline, { what: 'the account to be online' });

      platform.gateway.babble(text);
      if (ends) assert.match((await link.ended)?.message ?? '', /connection was lost/);
      platform.says('later');

      await has(ends ? open(link.cursor) : link, 'later');
    });

  it('stores again, in order, what could not be stored', async (t) => {
    let failures = 3;
    const kept: string[] = [];
    const store = async (arrivals: readonly Arrival[]): Promise<void> => {
      if (arrivals.length > 0 && failures > 0) {
        failures -= 1;
        throw new Error('disk full');
      }
      kept.push(...arrivals.map((one) => ('text' in one ? String(one.text) : one.kind)));
    };
    const { platform, open } = await discordBench(t, { store });
    const link = open();
    await until(() => link.isOnline, { what: 'the account to be online' });

    for (const text of ['one', 'two', 'three']) platform.says(text);
    await until(() => kept.length >= 3, { what: 'the messages' });

    assert.deepEqual(kept, ['one', 'two', 'three']);
    assert.equal(failures, 0);
  });

  it('is resumed behind what is stored, not behind what came: nothing is lost with a process that could not store', async (t) => {
    let refused = 0;
    let isBroken = false;
    const store = async (arrivals: readonly Arrival[]): Promise<void> => {
      if (!isBroken || arrivals.length === 0) return;
      refused += 1;
      throw new Error('disk full');
    };
    const { platform, open, account } = await discordBench(t, { store });
    const first = open();
    await until(() => first.isOnline, { what: 'the first process' });
    platform.says('zero');
    await has(first, 'zero');

    isBroken = true;
    for (const text of ['one', 'two', 'three']) platform.says(text);
    await until(() => refused > 2, { what: 'the store to refuse' });
    first.stop();
    await first.ended;
    isBroken = false;
    const second = open(first.cursor, { ...account });
    await has(second, 'three');

    assert.deepEqual([textsOf(first), textsOf(second)], [['zero'], ['one', 'two', 'three']]);
    assert.equal(platform.gateway.identifies, 1);
  });

  it('that is over is left, and what was said without one is fetched, before what is said later', async (t) => {
    const { platform, open, account } = await discordBench(t);
    const first = open();
    await until(() => first.isOnline, { what: 'the first process' });
    const dm = platform.world.privateChannel('80351110224678912');
    platform.says('before');
    platform.says('in private', { channel: dm.id });
    await has(first, 'before', 'in private');
    first.stop();
    await first.ended;

    platform.gateway.forgetSessions();
    const thread = platform.world.addChannel(platform.world.snowflake(), { type: 11 });
    platform.world.addChannel(platform.world.snowflake(), {
      isClosed: true,
      last_message_id: platform.world.snowflake(),
    });
    for (let n = 0; n < 130; n += 1) platform.says(`missed ${n}`);
    platform.says('missed in a thread', { channel: thread.id });
    platform.says('missed in private', { channel: dm.id });
    const second = open(first.cursor, { ...account });
    await until(() => second.isOnline, { what: 'the second process' });
    platform.says('later');
    await has(second, 'later', 'missed in a thread', 'missed in private');

    const inChannel = second.arrivals.flatMap((one) =>
      one.kind === 'message' && one.conversation.id === platform.world.channel ? [one.text] : [],
    );
    const missed = Array.from({ length: 130 }, (_, n) => `missed ${n}`);
    assert.deepEqual(
      inChannel.filter((text) => text !== 'before'),
      [...missed, 'later'],
    );
    assert.equal(await second.caughtUp, undefined);
    assert.deepEqual(
      second.arrivals.flatMap((one) =>
        one.kind === 'message' && one.text === 'missed in private' ? [one.conversation] : [],
      ),
      [{ id: '@80351110224678912', kind: 'private' }],
    );
  });

  it('that is over leaves edits of what it told, which are fetched, and told once', async (t) => {
    const { platform, open, account } = await discordBench(t);
    const first = open();
    await until(() => first.isOnline, { what: 'the first process' });
    const long = platform.says('said long before');
    Object.assign(long, { id: String(BigInt(long.id) - (7_200_000n << 22n)) });
    const [heard, live, left] = ['wrod', 'tow', 'as it was'].map((text) => platform.says(text));
    assert.ok(heard && live && left);
    platform.changes(live, 'two');
    await until(() => first.arrivals.some(({ kind }) => kind === 'edited'), { what: 'an edit that is told' });
    first.stop();
    await first.ended;

    platform.gateway.forgetSessions();
    platform.changes(long, 'fixed long after');
    platform.changes(heard, 'word');
    platform.changes(platform.says('mised'), 'missed');
    const second = open(first.cursor, { ...account });
    assert.equal(await second.caughtUp, undefined);

    const edits = second.arrivals.filter(({ kind }) => kind === 'edited');
    assert.deepEqual(textsOf({ arrivals: edits }), ['fixed long after', 'word', 'two']);
    assert.ok(
      first.arrivals.some(({ id }) => id === edits[2]?.id),
      'what came is named the same',
    );
    assert.deepEqual(
      second.arrivals.flatMap((one) => (one.kind === 'message' && one.text === 'missed' ? [one.id] : [])).length,
      1,
    );
  });

  it('keeps the gap when it could not be filled, says so, and fills it the next time', async (t) => {
    const { platform, open, account } = await discordBench(t);
    const first = open();
    await until(() => first.isOnline, { what: 'the first process' });
    platform.says('before');
    await has(first, 'before');
    first.stop();
    await first.ended;
    platform.gateway.forgetSessions();
    platform.says('missed');
    platform.next(/^GET \/guilds\/\d+\/channels/, { status: 500 });

    const second = open(first.cursor, { ...account });
    const failure = await second.caughtUp;
    platform.says('later');
    await has(second, 'later');
    const third = (second.stop(), await second.ended, open(second.cursor, { ...account }));
    await third.caughtUp;
    await has(third, 'missed');

    assert.match(String(failure), /Discord answered 500/);
    assert.ok(!textsOf(second).includes('missed'));
  });

  it('that was made invalid while the account is online is replaced, and the gap is filled', async (t) => {
    const { platform, open } = await discordBench(t);
    const link = open();
    await until(() => link.isOnline, { what: 'the account to be online' });
    platform.says('before');
    await has(link, 'before');

    platform.gateway.forgetSessions();
    platform.says('missed');
    platform.gateway.closeWith(4000);
    await has(link, 'missed');
    platform.says('later');
    await has(link, 'later');

    assert.deepEqual([textsOf(link), platform.gateway.identifies], [['before', 'missed', 'later'], 2]);
  });
});
