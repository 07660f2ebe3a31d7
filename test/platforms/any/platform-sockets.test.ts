// WebSockets that a platform opens to an account: refused as HTTP before anything is switched, unread until the account takes them,
// closed when its connection ends, and no hindrance to a drain.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { describe, it, type TestContext } from 'node:test';
import { WebSocket } from 'ws';
import { SvcError } from '../../../shared/svc-error.ts';
import { AcceptedSockets } from '../../../worker/endpoints/accepted-sockets.ts';
import { createWebhookSockets } from '../../../worker/ingress/webhook-sockets.ts';
import type { PlatformSocket } from '../../../worker/sdk/index.ts';
import { startHttp } from '../../support/http/http-server.ts';
import { until } from '../../support/until.ts';

const upgrade = [
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
];
const GOOD = { authorization: 'Bearer good' };

async function openHost(t: TestContext, { pingMs }: { readonly pingMs?: number } = {}) {
  const server = await startHttp(t);
  const account = new AcceptedSockets();
  const target = {
    verify: ({ headers }: { readonly headers: Readonly<Record<string, string | undefined>> }) => {
      if (headers['x-self-id'] === 'stranger') throw new SvcError('delivery_forbidden', 'not for this account');
      if (headers.authorization !== GOOD.authorization) throw new SvcError('bad_signature', 'does not fit');
    },
    accept: (socket: PlatformSocket) => account.hand(socket),
    maxBytes: 1_000,
  };
  const sockets = createWebhookSockets({
    find: (path) => (path === 'hook/socket' ? target : undefined),
    ...(pingMs === undefined ? {} : { pingMs }),
  });
  Object.defineProperty(server.host.deliveries, 'sockets', { value: sockets });
  const open = (headers: Readonly<Record<string, string>> = GOOD): WebSocket => {
    const socket = new WebSocket(`ws://127.0.0.1:${server.port}/webhooks/hook/socket?a=b`, { headers });
    socket.on('error', () => {});
    t.after(() => socket.terminate());
    return socket;
  };
  return { server, account, sockets, open };
}

/** What one connection of the account hears, until it is aborted. */
function listen(account: AcceptedSockets) {
  const abort = new AbortController();
  const heard: string[] = [];
  const taken: PlatformSocket[] = [];
  account.accept((socket) => {
    taken.push(socket);
    socket.onMessage((text) => heard.push(text));
  }, abort.signal);
  return { abort, heard, taken };
}

describe('WebSockets of platforms', () => {
  it('are refused as HTTP: no and wrong tokens, strangers, other addresses, no upgrade', async (t) => {
    const { server, sockets } = await openHost(t);
    const ask = async (path: string, headers: readonly string[]): Promise<number> =>
      (await server.raw(`GET ${path}`, headers)).status;

    assert.deepEqual(
      [
        await ask('/webhooks/hook/socket', upgrade),
        await ask('/webhooks/hook/socket', [...upgrade, 'Authorization: Bearer wrong']),
        await ask('/webhooks/hook/socket', [...upgrade, 'Authorization: Bearer good', 'X-Self-ID: stranger']),
        await ask('/webhooks/hook/socket', ['Authorization: Bearer good']),
        await ask('/webhooks/hook/socket', [...upgrade, 'Authorization: Bearer good', 'Content-Length: 2']),
        await ask('/webhooks/hook/main', [...upgrade, 'Authorization: Bearer good']),
        await ask('/webhooks/nothing', [...upgrade, 'Authorization: Bearer good']),
      ],
      [401, 401, 403, 426, 400, 405, 404],
    );
    assert.equal((await server.raw('OPTIONS /webhooks/hook/main')).headers.allow, 'OPTIONS, POST');
    assert.equal((await server.raw('OPTIONS /webhooks/hook/socket')).headers.allow, 'GET, HEAD, OPTIONS, POST');
    assert.equal(sockets.count, 0);
  });

  it('wait unread for a connection of the account, are read from their first message, and answered', async (t) => {
    const { account, open } = await openHost(t);
    const socket = open();
    await once(socket, 'open');
    const answers: string[] = [];
    socket.on('message', (data) => answers.push(String(data)));
    socket.send('one');
    socket.send('two');

    const { heard, taken } = listen(account);
    await until(() => heard.length === 2, { what: 'both messages' });
    taken[0]?.send('three');
    await until(() => answers.length === 1, { what: 'the answer' });

    assert.deepEqual([heard, answers], [['one', 'two'], ['three']]);
    assert.deepEqual([taken[0]?.request.query['a'], taken[0]?.request.path], ['b', '/webhooks/hook/socket']);
  });

  it('are closed when the connection ends, and the next one takes those that come again', async (t) => {
    const { account, open } = await openHost(t);
    const first = open();
    await once(first, 'open');
    const connection = listen(account);
    await until(() => connection.taken.length === 1, { what: 'the socket' });

    const closed = once(first, 'close');
    connection.abort.abort();
    assert.deepEqual(
      [(await closed)[0], await connection.taken[0]?.ended],
      [1012, 'the platform closed the connection (1012)'],
    );
    const second = open();
    await once(second, 'open');
    second.send('again');
    const next = listen(account);
    await until(() => next.heard.length === 1, { what: 'the message' });

    assert.deepEqual([connection.heard, next.heard], [[], ['again']]);
  });

  it('keep their number while they wait, and end with an account that takes nothing', async (t) => {
    const { account, open } = await openHost(t);
    const closed: number[] = [];
    for (let n = 0; n < 6; n += 1) {
      const socket = open();
      socket.on('close', (code) => closed.push(code));
      await once(socket, 'open');
    }
    await until(() => closed.length === 2, { what: 'the oldest two to be closed' });
    account.clear();
    await until(() => closed.length === 6, { what: 'the others to be closed' });

    assert.deepEqual(closed, [1013, 1013, 1012, 1012, 1012, 1012]);
  });

  it('are cut when they answer no ping, and refused a message that is too large', async (t) => {
    const { account, open, sockets } = await openHost(t, { pingMs: 2_000 });
    const { taken } = listen(account);
    const large = open();
    await once(large, 'open');
    large.send('x'.repeat(1_001));
    assert.equal((await once(large, 'close'))[0], 1009);
    const dead = open();
    await once(dead, 'open');
    await until(() => taken.length === 2, { what: 'the second socket' });

    dead.pause();

    assert.equal(await taken[1]?.ended, 'the connection was lost');
    await until(() => sockets.count === 0, { what: 'no socket to be counted' });
  });

  it('do not hold up a drain, which refuses new ones', async (t) => {
    const { server, account, open } = await openHost(t);
    const socket = open();
    await once(socket, 'open');
    const { heard } = listen(account);

    await server.http.drain(600_000);
    socket.send('still here');
    await until(() => heard.length === 1, { what: 'the message' });

    const late = await server.raw('GET /webhooks/hook/socket', [...upgrade, 'Authorization: Bearer good']);
    assert.deepEqual([late.status, JSON.parse(late.body).code], [503, 'draining']);
  });
});
