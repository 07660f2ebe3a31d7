// The life of an account at the fake LINE: its connection, its webhook, and the files that people send.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import { type Account, account as keys } from '../../../worker/adapters/line/config.ts';
import { connect, register } from '../../../worker/adapters/line/connect.ts';
import { line as module } from '../../../worker/adapters/line/index.ts';
import { secret } from '../../../worker/sdk/secret.ts';
import { adapterLink, definitionOf } from '../../support/accounts/adapter-link.ts';
import { FakeLine } from '../../support/fake-platforms/line.ts';
import { freePort } from '../../support/free-port.ts';
import { until } from '../../support/until.ts';

const adapter = definitionOf(module, keys);
const ADDRESS = 'https://bot.example/webhooks/test';

async function start(t: TestContext, change: Partial<Account> = {}) {
  const line = await FakeLine.start(t);
  const account: Account = {
    channelAccessToken: secret(line.token),
    channelSecrets: [secret(line.secret)],
    apiUrl: line.url,
    dataApiUrl: line.url,
    ...change,
  };
  const warnings: string[] = [];
  const base = adapterLink(account);
  const warn = (_fields: object | string, message?: string): void => void warnings.push(message ?? '');
  const link = Object.assign(Object.create(base) as typeof base, { log: { ...base.log, warn } });
  t.after(() => link.stop());
  /** Resolves to the error with which the connection is lost. */
  const open = (waits?: Parameters<typeof connect>[1]) =>
    connect(link, waits).then(
      () => undefined,
      (error: unknown) => error as Error & { code?: string; remedy?: string },
    );
  return { line, link, base, warnings, open };
}

describe('an account of line', () => {
  it('is online once LINE knows the token, and ends with its signal', async (t) => {
    const { line, link, base, open, warnings } = await start(t);
    line.channel.webhook = { endpoint: ADDRESS, active: true };

    const ended = open();
    await until(() => base.isOnline, { what: 'the account to be online' });
    link.stop();

    assert.equal(await ended, undefined);
    assert.deepEqual(warnings, []);
  });

  it('fails with a remedy for a token that LINE refuses, and for settings that cannot work', async (t) => {
    const refused = await start(t, { channelAccessToken: secret('revoked') });
    const empty = await start(t, { channelSecrets: [secret('')] });

    const errors = [await refused.open(), await empty.open()];

    assert.deepEqual(
      errors.map((error) => error?.code),
      ['account_failed', 'account_failed'],
    );
    assert.match(errors[0]?.remedy ?? '', /issue a channel access token/);
    assert.doesNotMatch(errors[0]?.message ?? '', /revoked/);
  });

  it('ends at once with its signal while LINE does not answer', async (t) => {
    const silent = createServer(() => {});
    const port = await new Promise<number>((resolve) =>
      silent.listen(0, '127.0.0.1', () => resolve((silent.address() as AddressInfo).port)),
    );
    t.after(() => {
      silent.closeAllConnections();
      silent.close();
    });
    const asked = new Promise((resolve) => silent.once('request', resolve));
    const { link, open } = await start(t, { apiUrl: `http://127.0.0.1:${port}` });

    const ended = open();
    await asked;
    link.stop();

    assert.equal(await ended, undefined);
  });

  it('is lost, not failed, when LINE is in trouble, and when nobody listens', async (t) => {
    const { line, open } = await start(t);
    for (const status of [500, 429]) {
      line.next('GET /v2/bot/info', { status });
      const error = await open();
      assert.ok(error !== undefined && error.code !== 'account_failed', String(error));
    }
    const away = await start(t, { apiUrl: `http://127.0.0.1:${await freePort()}` });
    assert.match((await away.open())?.message ?? '', /LINE is not reached: ECONNREFUSED/);
  });

  it('is degraded while LINE delivers nothing to it, and says why each time that changes', async (t) => {
    const { line, base, warnings, open } = await start(t);
    const ended = open({ checkMs: 1, silentMs: 1 });
    const next = (count: number) => until(() => warnings.length >= count, { what: `warning ${count}` });

    await next(1);
    line.channel.webhook = { endpoint: 'https://elsewhere.example/hook', active: true };
    await next(2);
    line.channel.webhook = { endpoint: ADDRESS, active: false };
    await next(3);
    assert.match(base.trouble ?? '', /nothing will be delivered/);
    line.channel.webhook = { endpoint: ADDRESS, active: true };
    await until(() => base.trouble === undefined, { what: 'the account to be well' });

    assert.deepEqual(
      warnings.map((text) => text.replace('nothing will be delivered by LINE: ', '')),
      [
        'it knows no address',
        'it delivers to another address than /webhooks/test',
        '"Use webhook" is off (Messaging API tab of the channel)',
      ],
    );
    line.next('GET /v2/bot/info', { status: 401, body: '{"message":"revoked"}' });
    assert.equal((await ended)?.code, 'account_failed', 'a token that is revoked meanwhile is found');
  });

  it('is well as soon as its address is registered, not at the next look', async (t) => {
    const { line, link, base, open } = await start(t);
    const host = await FakeLine.start(t);
    line.reach = () => `${host.url}/v2/bot/info`;
    host.next('POST /v2/bot/info', { status: 200 });
    void open({ checkMs: 3_600_000, silentMs: 3_600_000 });
    await until(() => base.trouble !== undefined, { what: 'the lack of an address' });

    await register(ADDRESS, link);

    await until(() => base.trouble === undefined, { what: 'the account to be well' });
  });

  it('registers its address, has LINE try it, and says what is wrong', async (t) => {
    const { line, link } = await start(t);
    const reached: string[] = [];
    const host = await FakeLine.start(t);
    line.reach = (endpoint) => {
      reached.push(endpoint);
      return `${host.url}/v2/bot/info`;
    };

    await assert.rejects(register(ADDRESS, link), /LINE reaches it, but 401 .* another channel secret.*channelSecrets/);
    host.next('POST /v2/bot/info', { status: 502 });
    await assert.rejects(register(ADDRESS, link), /set, but LINE does not reach it: ERROR_STATUS_CODE \(502\)/);
    host.next('POST /v2/bot/info', { status: 200 });
    assert.match(await register(ADDRESS, link), /its test was answered/);
    line.channel.webhook = { endpoint: ADDRESS, active: false };
    host.next('POST /v2/bot/info', { status: 200 });
    assert.match(await register(ADDRESS, link), /"Use webhook" is off/);
    await assert.rejects(register('http://bot.example/', link), /Invalid webhook endpoint URL/);

    assert.deepEqual(reached, Array(4).fill(ADDRESS));
    assert.deepEqual(host.calls[0]?.body, { destination: line.channel.bot, events: [] });
  });
});

describe('line fetches files', () => {
  const FILE = { id: '325708', name: 'video.mp4', mime: 'video/mp4', bytes: 0 };

  it('as a stream, once they are prepared', async (t) => {
    const { line, link } = await start(t);
    const bytes = Buffer.alloc(300_000, 'x');
    line.keep(FILE.id, bytes, { preparing: 1 });

    const stream = await adapter.fetchFile?.(FILE, link);

    assert.ok(stream instanceof ReadableStream);
    assert.deepEqual(Buffer.from(await new Response(stream).arrayBuffer()), bytes);
  });

  it('not when they are gone, could not be prepared, lie elsewhere, or the token is refused', async (t) => {
    const { line, link } = await start(t);
    const fetched = async (id: string) => adapter.fetchFile?.({ ...FILE, id }, link);
    const path = `GET /v2/bot/message/${FILE.id}/content`;

    await assert.rejects(fetched('1'), /LINE answered 404/);
    await assert.rejects(fetched('../info'), /not a message of LINE/);
    line.next(path, { status: 302, headers: { location: 'https://evil.example/' } });
    await assert.rejects(fetched(FILE.id));
    line.next(path, { status: 202 });
    line.next(`${path}/transcoding`, { status: 200, body: '{"status":"failed"}' });
    await assert.rejects(fetched(FILE.id), /could not prepare it/);
    line.next(path, { status: 401 });
    await assert.rejects(fetched(FILE.id), { code: 'account_failed' });
  });
});
