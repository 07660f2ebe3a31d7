// The socket that is bound without listening: what it says of an address, and what becomes of the one before. It stands on private API of Node.
import assert from 'node:assert/strict';
import { connect, createServer, type Server } from 'node:net';
import { networkInterfaces } from 'node:os';
import { describe, it, type TestContext } from 'node:test';
import { HeldSocket } from '../../../supervisor/socket/held-socket.ts';

const HOST = '127.0.0.1';

function held(t: TestContext): HeldSocket {
  const socket = new HeldSocket();
  t.after(() => socket.release());
  return socket;
}

/** A server that listens on the held socket, as a worker does. */
async function listenOn(t: TestContext, handle: unknown): Promise<Server> {
  const server = createServer((client) => client.end());
  t.after(() => server.close());
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(handle as object, resolve);
  });
  return server;
}

async function stranger(t: TestContext): Promise<number> {
  const server = await listenOn(t, { host: HOST, port: 0 });
  return (server.address() as { port: number }).port;
}

const reach = (port: number): Promise<string> =>
  new Promise((resolve) => {
    const client = connect(port, HOST, () => resolve('connected'));
    client.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    client.resume();
  });

describe('HeldSocket', () => {
  it('is possible with this Node, and gives a socket that a server listens on', async (t) => {
    const socket = held(t);

    assert.equal(socket.isPossible, true);
    assert.equal(socket.hold({ host: HOST, port: 0 }), undefined);
    const server = await listenOn(t, socket.handleFor({ host: HOST, port: 0 }));

    assert.equal(await reach((server.address() as { port: number }).port), 'connected');
  });

  it('tells a taken port and an address that is not here', async (t) => {
    const socket = held(t);
    const port = await stranger(t);

    assert.equal(socket.hold({ host: HOST, port }), 'EADDRINUSE');
    assert.equal(socket.hold({ host: '192.0.2.1', port: 0 }), 'EADDRNOTAVAIL');
    assert.equal(socket.address, undefined);
  });

  it('keeps what it holds when another port cannot be had, and lets go when it can (HELD-SOCKET-2)', async (t) => {
    const socket = held(t);
    const first = { host: HOST, port: 0 };
    socket.hold(first);
    const handle = socket.handleFor(first);

    assert.equal(socket.hold({ host: HOST, port: await stranger(t) }), 'EADDRINUSE');
    assert.equal(socket.handleFor(first), handle);
    assert.equal(socket.hold({ host: '0.0.0.0', port: 0 }), undefined);
    assert.equal(socket.handleFor(first), undefined);
  });

  it('binds another address of the machine, and IPv6 where there is one', (t) => {
    const socket = held(t);

    assert.equal(socket.hold({ host: HOST, port: 0 }), undefined);
    assert.equal(socket.hold({ host: '0.0.0.0', port: 0 }), undefined);
    const hasIpv6 = Object.values(networkInterfaces()).some((found) => found?.some(({ address }) => address === '::1'));
    if (hasIpv6) assert.equal(socket.hold({ host: '::1', port: 0 }), undefined);
  });
});
