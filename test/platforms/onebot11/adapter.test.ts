// The adapter onebot11 at the fake implementation: a connection that it makes, what ends it, and what is stored meanwhile.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { secret } from '../../../worker/sdk/secret.ts';
import { onebotBench, textsOf } from '../../support/accounts/onebot11-bench.ts';
import { until } from '../../support/until.ts';

const isOnline = (link: { readonly isOnline: boolean }): Promise<unknown> =>
  until(() => link.isOnline, { what: 'the account to be online' });

describe('an account of OneBot that connects (forward)', () => {
  it('hears what is said from its first event on, in order, and not what the bot said itself', async (t) => {
    const { fake, open } = await onebotBench(t);
    const connection = open();
    await isOnline(connection.link);

    fake.line('one', { group: 7 });
    fake.line('mine', { user: fake.bot.self, group: 7 });
    fake.line('two', { user: 6 });
    fake.push({ post_type: 'message', message_id: 1 });
    fake.push({ post_type: 'notice', notice_type: 'notify', sub_type: 'poke', user_id: 5, target_id: 6, self_id: 42 });
    await until(() => connection.link.arrivals.length === 3, { what: 'the arrivals' });
    connection.link.stop();

    assert.equal(await connection.ended, undefined);
    assert.deepEqual(textsOf(connection), ['one', 'two', 'other']);
    assert.deepEqual(
      connection.link.arrivals.map(({ conversation }) => conversation.id),
      ['group:7', 'private:6', 'onebot'],
    );
    await until(() => fake.listeners === 0, { what: 'the socket to be closed' });
  });

  it('is broken by nothing that an implementation says, and keeps what it cannot read', async (t) => {
    const { fake, open } = await onebotBench(t);
    const connection = open();
    await isOnline(connection.link);
    const deep = `{"post_type":"notice","self_id":1,"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}`;
    const frames = [
      '',
      'x',
      '[]',
      'null',
      '7',
      '{}',
      '{"echo":"svc-1"}',
      '{"echo":{"a":1},"retcode":0}',
      '{"retcode":1404}',
      deep,
    ];
    const events = [
      '{"post_type":7}',
      '{"post_type":"message","__proto__":{"self_id":1}}',
      '{"post_type":"meta_event"}',
    ];

    for (const frame of [...frames, ...events]) fake.raw(frame);
    fake.push({ post_type: 'meta_event', meta_event_type: 'heartbeat', status: 'x', interval: 'y' });
    fake.line('x'.repeat(1_100_000), { group: 7 });
    const odd = [null, 7, [7], [{ type: 'text' }], [{ type: 'at', data: { qq: {} } }], { type: 'image', data: 'x' }];
    for (const message of odd) fake.push({ ...fake.line('', { group: 7, push: false }), message });
    fake.line('still here', { group: 7 });
    await until(() => textsOf(connection).includes('still here'), { what: 'the last line' });

    const others = connection.link.arrivals.filter(({ kind }) => kind === 'other');
    assert.deepEqual(
      others.map((one) => 'type' in one && one.type),
      ['unreadable', 'unreadable'],
    );
    assert.equal(Reflect.get({}, 'self_id'), undefined);
    assert.ok(!JSON.stringify(connection.link.arrivals).includes('xxxx'));
  });

  it('may have two connections, of which each has its part', async (t) => {
    const { fake, open, send } = await onebotBench(t, { change: { split: true } });
    const connection = open();
    await isOnline(connection.link);

    fake.line('hello', { group: 7 });
    await until(() => connection.link.arrivals.length === 1, { what: 'the event' });
    assert.equal((await send(connection, { kind: 'post', text: 'hi' })).kind, 'sent');
    assert.deepEqual(fake.bot.texts(7), ['hi']);
    fake.cut();
    assert.match((await connection.ended)?.message ?? '', /connection was lost/);
  });

  for (const saysLate of [false, true])
    it(`tries each of its tokens, and fails with a remedy when all are refused (${saysLate ? 'as NapCat says it' : 'by status'})`, async (t) => {
      const { fake, open, account } = await onebotBench(t, {
        saysLate,
        change: { accessTokens: [secret('new'), secret('wrong')] },
      });
      const failed = await open().ended;
      assert.deepEqual([failed?.code, /accessTokens/.test(failed?.remedy ?? '')], ['account_failed', true]);
      assert.doesNotMatch(`${failed?.message}`, /wrong|new\b/);

      account.accessTokens.push(secret(fake.token));
      await isOnline(open().link);
      assert.equal(fake.listeners, 1);
    });

  it('fails when it can never work: no address, another bot', async (t) => {
    const { open: other } = await onebotBench(t, { change: { selfId: '42' } });
    const { open: without } = await onebotBench(t, { change: { url: 'http://127.0.0.1:1' } });

    const [stranger, nowhere] = [await other().ended, await without().ended];

    assert.deepEqual([stranger?.code, nowhere?.code], ['account_failed', 'account_failed']);
    assert.match(stranger?.message ?? '', /10001000.*42/);
    assert.match(nowhere?.remedy ?? '', /url/);
  });

  it('is lost, and not failed, when nobody is there, the bot is offline, or it goes offline', async (t) => {
    const gone = await onebotBench(t, { change: { url: 'ws://127.0.0.1:1' } });
    const { fake, open } = await onebotBench(t);
    fake.bot.status = { online: false, good: false };
    const [nobody, offline] = [await gone.open().ended, await open().ended];
    fake.bot.status = { online: true, good: true };
    const third = open();
    await isOnline(third.link);
    fake.push({
      post_type: 'notice',
      notice_type: 'bot_offline',
      user_id: fake.bot.self,
      tag: 'kicked',
      message: 'logged in elsewhere',
    });

    assert.deepEqual([nobody?.code, offline?.code], [undefined, undefined]);
    assert.match(nobody?.message ?? '', /ECONNREFUSED/);
    assert.match(offline?.message ?? '', /offline/);
    assert.match((await third.ended)?.message ?? '', /logged in elsewhere/);
  });

  it('is degraded while the implementation is not well, and lost when its heartbeat stays away', async (t) => {
    const { fake, open } = await onebotBench(t, { timing: { leastBeatMs: 1 } });
    const { link, ended } = open();
    await isOnline(link);

    fake.bot.status.good = false;
    fake.heartbeat(600_000);
    await until(() => link.trouble !== undefined, { what: 'the trouble' });
    fake.bot.status.good = true;
    fake.heartbeat(600_000);
    await until(() => link.trouble === undefined, { what: 'its end' });
    fake.heartbeat(50);

    assert.match((await ended)?.message ?? '', /no heartbeat for 150 ms/);
  });

  it('is lost when not even a ping is answered', async (t) => {
    const { fake, open } = await onebotBench(t, { timing: { pingMs: 2_000 } });
    const { link, ended } = open();
    await isOnline(link);

    fake.freeze();

    assert.match((await ended)?.message ?? '', /connection was lost/);
  });
});

describe('what an account of OneBot stores', () => {
  it('is stored again when it could not be, in order, also when the connection is gone: it does not come again', async (t) => {
    let isBroken = true;
    let tries = 0;
    const store = async (): Promise<void> => {
      tries += 1;
      if (isBroken) throw new Error('disk full');
    };
    const { fake, open } = await onebotBench(t, { store, timing: { lastMs: 60_000 } });
    const connection = open();
    await isOnline(connection.link);

    for (const text of ['one', 'two', 'three']) fake.line(text, { group: 7 });
    await until(() => tries > 1, { what: 'the store to be asked again' });
    fake.cut();
    await until(() => fake.listeners === 0, { what: 'the connection to be gone' });
    isBroken = false;
    await connection.ended;

    assert.deepEqual(textsOf(connection), ['one', 'two', 'three']);
  });

  it('is not read further while too much waits, and then all of it comes', async (t) => {
    let release = (): void => {};
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    const { fake, open } = await onebotBench(t, { store: () => gate });
    const connection = open();
    await isOnline(connection.link);

    for (let n = 0; n < 2_500; n += 1) fake.line(`line ${n}`, { group: 7 });
    release();
    await until(() => connection.link.arrivals.length === 2_500, { what: 'all of them' });

    assert.deepEqual(
      textsOf(connection),
      Array.from({ length: 2_500 }, (_, n) => `line ${n}`),
    );
  });

  it('is completed from the history after an outage, before what comes live, once, and without what the bot said', async (t) => {
    const { fake, open } = await onebotBench(t, { change: { catchUp: true } });
    const first = open();
    await isOnline(first.link);
    fake.line('heard', { group: 7 });
    fake.line('in private', { user: 5 });
    await until(() => first.cursors.length > 0 && first.link.arrivals.length === 2, { what: 'both' });
    first.link.stop();
    await first.ended;
    fake.line('missed', { group: 7, push: false });
    fake.line('mine', { user: fake.bot.self, group: 7, push: false });
    fake.line('missed too', { user: 5, push: false });
    fake.line('not heard of', { group: 9, push: false });
    fake.line('long ago', { group: 11, push: false, time: 1_000 });

    const second = open(first.cursors.at(-1));
    await isOnline(second.link);
    fake.line('live', { group: 7 });
    await until(() => textsOf(second).includes('live'), { what: 'the live one' });

    const known = new Set(first.link.arrivals.map(({ id }) => id));
    const fresh = second.link.arrivals.filter(({ id, user }) => {
      const isFresh = !known.has(id) && user.self !== true;
      known.add(id);
      return isFresh;
    });
    const texts = textsOf({ link: { ...second.link, arrivals: fresh } });
    assert.equal(texts.length, 4);
    assert.deepEqual(new Set(texts), new Set(['live', 'missed', 'missed too', 'not heard of']));
    assert.equal(textsOf(second).at(-1), 'live');
    assert.match(second.cursors.at(-1) ?? '', /"group:7":\d+/);
  });

  it('begins with the second in which an account came up that has heard of nothing', async (t) => {
    const { fake, open } = await onebotBench(t, { change: { catchUp: true } });
    fake.line('before it came up', { group: 7, push: false, time: 1_000 });
    const first = open();
    await until(() => first.cursors.length === 1, { what: 'the first cursor' });
    first.link.stop();
    await first.ended;
    fake.line('missed', { group: 7, push: false });

    const second = open(first.cursors[0]);
    await until(() => second.link.arrivals.length > 0, { what: 'what was missed' });

    assert.deepEqual(textsOf(second), ['missed']);
  });

  it('goes on without a history where the implementation has none, and is behind where it does not answer', async (t) => {
    const { fake, open } = await onebotBench(t, { change: { catchUp: true } });
    const cursor = JSON.stringify({ 'group:7': 1 });
    fake.bot.without.add('get_group_msg_history');
    const without = open(cursor);
    await isOnline(without.link);
    fake.line('live', { group: 7 });
    await until(() => without.link.arrivals.length === 1, { what: 'the live one' });
    assert.equal(without.link.trouble, undefined);
    without.link.stop();
    await without.ended;

    fake.bot.without.clear();
    fake.next('get_group_msg_history', { status: 'failed', retcode: 1200, data: null, message: 'Timeout' });
    const behind = open(cursor);
    await until(() => behind.link.trouble === 'behind', { what: 'the trouble' });
    fake.line('live', { group: 7 });
    await until(() => behind.link.arrivals.length === 1, { what: 'the live one' });
  });
});
