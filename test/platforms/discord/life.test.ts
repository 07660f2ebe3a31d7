// The life of an account of discord: what ends it for good, what is only a lost connection, and what works in part.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { describe, it } from 'node:test';
import { discordBench, has } from '../../support/accounts/discord-bench.ts';
import { until } from '../../support/until.ts';

describe('what does not heal by itself', () => {
  for (const { code, what, remedy } of [
    { code: 4004, what: 'the token', remedy: /new token/ },
    { code: 4011, what: 'too many servers', remedy: /how many it wants/ },
    { code: 4013, what: 'intents', remedy: /intents/ },
    { code: 4014, what: 'an intent', remedy: /Privileged Gateway Intents/ },
  ])
    it(`fails the account with its remedy, and is not tried again: ${code}`, async (t) => {
      const { platform, open } = await discordBench(t);
      platform.gateway.refuses = code;

      const error = await open().ended;

      assert.equal(error?.code, 'account_failed');
      assert.match(error?.message ?? '', new RegExp(`${what}.*${code}`));
      assert.match(error?.remedy ?? '', remedy);
    });

  it('is an intent that is not switched on, a token that the API refuses, and one of another application', async (t) => {
    const { platform, open, account } = await discordBench(t);
    platform.gateway.privileged = 0;

    const ends = [
      await open().ended,
      await open(undefined, { ...account, token: { reveal: () => 'another-token-of-nobody-at-all' } }).ended,
      await open(undefined, { ...account, applicationId: '111111111111111111' }).ended,
    ];

    assert.deepEqual(
      ends.map((error) => error?.code),
      Array(3).fill('account_failed'),
    );
    assert.deepEqual(
      ends.map((error) => /4014|401|of application/.exec(error?.message ?? '')?.[0]),
      ['4014', '401', 'of application'],
    );
  });
});

describe('an address for interactions', () => {
  it('that is not where the account expects interactions makes it degraded, while it sends and hears', async (t) => {
    const { platform, open, account } = await discordBench(t);
    const both = open(undefined, { ...account, mode: 'both', publicKeys: [platform.publicKey] });
    await until(() => both.isOnline && both.trouble, { what: 'the account without an address to say so' });
    platform.says('hello');
    await has(both, 'hello');

    platform.world.endpointUrl = 'https://elsewhere.example';
    const gateway = open(undefined, { ...account });
    await until(() => gateway.isOnline && gateway.trouble, { what: 'the account with an address to say so' });

    assert.match(both.trouble ?? '', /no address for interactions.*svc webhooks register discord~main/);
    assert.match(gateway.trouble ?? '', /not over the gateway.*mode: both/);
  });
});

describe('a public key that is another one', () => {
  it('makes the account degraded, by whatever way interactions come over HTTP: all of them would be refused', async (t) => {
    const { platform, open, account } = await discordBench(t);
    platform.world.endpointUrl = 'https://bot.example/webhooks/discord/main';

    for (const mode of ['interactions', 'both'] as const) {
      const link = open(undefined, { ...account, mode, publicKeys: ['ab'.repeat(32)] });
      await until(() => link.isOnline && link.trouble, { what: 'the account to say so' });

      assert.match(
        link.trouble ?? '',
        new RegExp(`not among publicKeys: ${platform.publicKey} \\(add it .* reload\\)$`),
      );
    }
    const good = open(undefined, { ...account, mode: 'interactions', publicKeys: [platform.publicKey.toUpperCase()] });
    await until(() => good.isOnline, { what: 'the account to be online' });
    assert.equal(good.trouble, undefined);
  });
});

describe('a connection that is ended while it opens', () => {
  it('harms nobody: its error is not thrown at the process', async (t) => {
    const { platform, open } = await discordBench(t);
    const sockets: Socket[] = [];
    const silent = createServer((socket) => void sockets.push(socket.on('error', () => {}).resume()));
    silent.listen(0, '127.0.0.1');
    await once(silent, 'listening');
    t.after(() => {
      for (const socket of sockets) socket.destroy();
      silent.close();
    });
    const url = `ws://127.0.0.1:${(silent.address() as AddressInfo).port}`;
    platform.next(/^GET \/gateway\/bot/, { status: 200, body: JSON.stringify({ url, session_start_limit: {} }) });
    const thrown: unknown[] = [];
    const note = (error: unknown): void => void thrown.push(error);
    process.on('uncaughtException', note);
    t.after(() => void process.off('uncaughtException', note));

    const link = open();
    await until(() => sockets.length === 1, { what: 'the handshake' });
    link.stop();
    const error = await link.ended;
    await until(() => sockets[0]?.destroyed, { what: 'the socket to be gone' });

    assert.deepEqual([error, thrown], [undefined, []]);
  });
});

describe('a connection that is lost', () => {
  it('ends, so that the host comes back with backoff, and keeps its session', async (t) => {
    const { platform, open } = await discordBench(t);
    const link = open();
    await until(() => link.isOnline, { what: 'the account to be online' });
    platform.says('one');
    await has(link, 'one');

    platform.gateway.refuses = 1011;
    platform.gateway.cut();
    const error = await link.ended;
    platform.gateway.refuses = undefined;
    platform.says('two');
    const again = open(link.cursor);
    await has(again, 'two');

    assert.match(error?.message ?? '', /1011/);
    assert.equal(error?.code, undefined);
    assert.deepEqual([platform.gateway.identifies, platform.gateway.resumes], [1, 1]);
  });

  it('is one that never gets ready, and one that may not identify any more', async (t) => {
    const { platform: poor, open: openSpent } = await discordBench(t);
    poor.gateway.sessionsLeft = 3;
    const spent = await openSpent().ended;
    const { platform, open } = await discordBench(t, { timing: { readyMs: 100 } });
    platform.next(/^GET \/gateway\/bot/, {
      status: 200,
      body: JSON.stringify({ url: `${platform.url.replace('http', 'ws')}/nowhere`, session_start_limit: {} }),
    });
    platform.gateway.isMute = true;

    const silent = await open().ended;

    assert.match(spent?.message ?? '', /3 more sessions/);
    assert.match(silent?.message ?? '', /not ready within 100 ms/);
    assert.deepEqual([poor.gateway.identifies, platform.gateway.identifies], [0, 0]);
  });
});
