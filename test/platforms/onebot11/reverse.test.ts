// The adapter onebot11 at the fake implementation: connections that the implementation makes, and HTTP.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { secret } from '../../../worker/sdk/secret.ts';
import { onebotBench, socketAddress, textsOf } from '../../support/accounts/onebot11-bench.ts';
import { until } from '../../support/until.ts';

const isOnline = (link: { readonly isOnline: boolean }): Promise<unknown> =>
  until(() => link.isOnline, { what: 'the account to be online' });

describe('an account of OneBot that is connected to (reverse)', () => {
  it('is online when the implementation has come, hears and answers, and is lost with its socket', async (t) => {
    const { fake, open, send } = await onebotBench(t, { change: { mode: 'reverse' } });
    const connection = open();
    const url = await socketAddress(t, () => connection.link);
    const caller = fake.connectTo(url, { againMs: 600_000 });
    await isOnline(connection.link);

    fake.line('hello', { user: 5 });
    await until(() => connection.link.arrivals.length === 1, { what: 'the event' });
    assert.equal((await send(connection, { kind: 'post', text: 'hi', conversation: 'private:5' })).kind, 'sent');
    assert.deepEqual(fake.bot.texts(), ['hi']);
    caller.stop();

    assert.match((await connection.ended)?.message ?? '', /lost|closed/);
  });

  it('takes one socket for calls and one for events, and waits for the second only so long', async (t) => {
    const { fake, open, send } = await onebotBench(t, { change: { mode: 'reverse' }, timing: { otherHalfMs: 1_000 } });
    const half = open();
    let current = half;
    const url = await socketAddress(t, () => current.link);
    const events = fake.connectTo(url, { role: 'Event', againMs: 600_000 });
    assert.match((await half.ended)?.message ?? '', /no connection for api/);
    events.stop();

    const { open: again } = await onebotBench(t, { change: { mode: 'reverse' } });
    current = again();
    fake.connectTo(url, { role: 'Event' });
    fake.connectTo(url, { role: 'API' });
    await isOnline(current.link);
    await until(() => fake.listeners === 1, { what: 'the socket for events to be open on both sides' });
    fake.line('hello', { group: 7 });
    await until(() => current.link.arrivals.length === 1, { what: 'the event' });
    assert.equal(
      (
        await send(half, { kind: 'remove', message: '1' }).catch(({ code }: { readonly code: string }) => ({
          kind: code,
        }))
      ).kind,
      'endpoint_unavailable',
    );
  });

  it('lets a newer socket take the place of the older, which may be dead without our knowing', async (t) => {
    const { fake, open } = await onebotBench(t, { change: { mode: 'reverse' } });
    const connection = open();
    const url = await socketAddress(t, () => connection.link);
    fake.connectTo(url, { againMs: 600_000 });
    await isOnline(connection.link);
    fake.freeze();

    fake.connectTo(url, { againMs: 600_000 });
    await until(() => fake.handshakes.length === 2, { what: 'the second socket' });
    fake.line('heard once', { group: 7 });
    await until(() => connection.link.arrivals.length > 0, { what: 'the event' });

    let isOver = false;
    void connection.ended.then(() => {
      isOver = true;
    });
    fake.line('again', { group: 7 });
    await until(() => textsOf(connection).includes('again'), { what: 'the next event' });
    assert.equal(isOver, false);
  });

  it('lets no other bot in beside the one that is connected, and none in its place', async (t) => {
    const { fake, open } = await onebotBench(t, { change: { mode: 'reverse' } });
    const { fake: other } = await onebotBench(t, { self: 42 });
    const connection = open();
    const url = await socketAddress(t, () => connection.link);
    const caller = fake.connectTo(url, { againMs: 600_000 });
    await isOnline(connection.link);

    const stranger = other.connectTo(url, { againMs: 600_000 });
    await until(() => other.handshakes.length === 1 && !stranger.isOpen, { what: 'the stranger to be sent away' });
    assert.equal(caller.isOpen, true);
    other.connectTo(url, { againMs: 600_000, headers: { 'x-self-id': String(fake.bot.self) } });

    assert.match((await connection.ended)?.message ?? '', /the bot 42 came in the place of 10001000/);
  });

  it('fails without a token: anybody could connect', async (t) => {
    const { open } = await onebotBench(t, { change: { mode: 'reverse', accessTokens: [] } });

    const failed = await open().ended;
    assert.deepEqual([failed?.code, /accessTokens/.test(failed?.remedy ?? '')], ['account_failed', true]);
  });
});

describe('an account of OneBot over HTTP', () => {
  it('is online when the implementation answers, degraded when it is not well, lost when it goes', async (t) => {
    const { fake, open } = await onebotBench(t, {
      change: { mode: 'http', secrets: [secret('s')] },
      timing: { statusMs: 10 },
    });
    const { link, ended } = open();
    await isOnline(link);
    fake.bot.status.good = false;
    await until(() => link.trouble !== undefined, { what: 'the trouble' });
    const changes: string[] = [];
    const { online } = link;
    Object.assign(link, { online: () => [changes.push('online'), online()] });
    const looks = fake.called('get_status').length;
    await until(() => fake.called('get_status').length > looks + 3, { what: 'more looks' });
    assert.deepEqual(changes, [], 'it does not go to and fro');
    fake.bot.status.good = true;
    await until(() => link.trouble === undefined, { what: 'its end' });
    fake.bot.status.online = false;

    assert.match((await ended)?.message ?? '', /offline/);
  });

  it('fails when its tokens are refused, and without a secret; ends with its signal', async (t) => {
    const change = { mode: 'http', secrets: [secret('s')] } as const;
    const wrong = await onebotBench(t, {
      change: { ...change, secrets: [...change.secrets], accessTokens: [secret('x')] },
    });
    const without = await onebotBench(t, { change: { mode: 'http' } });
    const good = await onebotBench(t, { change: { mode: 'http', secrets: [secret('s')] } });
    const { link, ended } = good.open();
    await isOnline(link);
    link.stop();

    assert.equal(await ended, undefined);
    for (const failed of [await wrong.open().ended, await without.open().ended])
      assert.equal(failed?.code, 'account_failed');
  });
});
