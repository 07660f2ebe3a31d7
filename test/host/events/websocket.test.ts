import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import { WebSocket } from 'ws';
import { EPOCH, eventLog, serveEvents } from '../../support/hosts/event-log.ts';
import { until } from '../../support/until.ts';

interface Message {
  readonly id?: string;
  readonly event?: string;
  readonly kind?: string;
  readonly call?: string;
  readonly code?: string;
  readonly data?: Readonly<Record<string, unknown>>;
}
interface Client {
  readonly socket: WebSocket;
  readonly messages: readonly Message[];
  readonly closed: Promise<number>;
  waitFor(test: (message: Message) => boolean, what: string): Promise<Message>;
  seqs(): number[];
}

async function open(
  t: TestContext,
  url: string,
  { protocols = [], headers = {} }: { readonly protocols?: string[]; readonly headers?: Record<string, string> } = {},
): Promise<Client> {
  const socket = new WebSocket(url.replace('http', 'ws'), protocols, { headers });
  const messages: Message[] = [];
  const closed = new Promise<number>((resolve) => socket.on('close', resolve));
  socket.on('message', (data) => messages.push(JSON.parse((data as Buffer).toString()) as Message));
  t.after(() => socket.terminate());
  await new Promise((resolve, reject) => socket.on('open', resolve).on('error', reject));
  socket.on('error', () => {});
  return {
    socket,
    messages,
    closed,
    waitFor: (test, what) => until(() => messages.find(test), { what }),
    seqs: () => messages.filter(({ event }) => event?.startsWith('inbox.')).map(({ id }) => Number(id?.split('.')[1])),
  };
}

/** A raw connection after the handshake, for frames that no client library would send. */
async function rawOpen(t: TestContext, port: number): Promise<{ socket: Socket; closeCode: () => Promise<number> }> {
  const socket = connect(port, '127.0.0.1');
  t.after(() => socket.destroy());
  let received = Buffer.alloc(0);
  socket.on('data', (data) => void (received = Buffer.concat([received, data]))).on('error', () => {});
  socket.write(
    `GET /api/ws HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${randomBytes(16).toString('base64')}\r\n\r\n`,
  );
  await until(() => received.includes('\r\n\r\n'), { what: 'the handshake' });
  await until(() => received.includes('svc.live'), { what: 'the stream' });
  return {
    socket,
    closeCode: () =>
      until(
        () => {
          for (let at = received.indexOf('\r\n\r\n') + 4; at + 2 <= received.length; ) {
            const [first = 0, second = 0] = received.subarray(at);
            const [size, offset] = second === 126 ? [received.readUInt16BE(at + 2), 4] : [second, 2];
            if ((first & 0x0f) === 8) return received.readUInt16BE(at + offset);
            at += offset + size;
          }
          return undefined;
        },
        { what: 'a close frame' },
      ),
  };
}

const frame = (first: number, payload: Buffer, masked = true): Buffer => {
  const head =
    payload.length < 126
      ? Buffer.from([first, payload.length])
      : Buffer.from([first, 126, payload.length >> 8, payload.length & 255]);
  if (!masked) return Buffer.concat([head, payload]);
  head[1] = (head[1] ?? 0) | 0x80;
  return Buffer.concat([head, Buffer.alloc(4), payload]);
};

describe('WebSocket', () => {
  it('carries the frames of the stream as JSON messages and echoes svc.v1 alone', async (t) => {
    const log = eventLog(t);
    await log.emit(3);
    const { url } = await serveEvents(t, log);

    const client = await open(t, `${url}/api/ws?lastEventId=${EPOCH}.1`, {
      protocols: ['svc.v1', 'svc.bearer.c2VjcmV0'],
    });
    await client.waitFor(({ event }) => event === 'svc.live', 'live');
    await log.emit(2);
    await until(() => client.seqs().length === 4, { what: 'four events' });

    assert.equal(client.socket.protocol, 'svc.v1');
    assert.equal(client.messages[0]?.event, 'svc.hello');
    assert.equal(client.messages[0]?.id, undefined);
    assert.deepEqual(client.seqs(), [2, 3, 4, 5]);
    assert.deepEqual(client.messages.at(-1)?.data?.['data'], { item: 'item-5', attempts: 1, sends: 5, durationMs: 0 });
  });

  it('begins after the header Last-Event-ID, which beats the parameter', async (t) => {
    const log = eventLog(t);
    await log.emit(3);
    const { url } = await serveEvents(t, log);

    const target = `${url}/api/ws?lastEventId=${EPOCH}.1`;
    const client = await open(t, target, { headers: { 'last-event-id': `${EPOCH}.2` } });
    await client.waitFor(({ event }) => event === 'svc.live', 'live');

    assert.deepEqual(client.seqs(), [3]);

    const empty = await open(t, target, { headers: { 'last-event-id': '' } });
    await empty.waitFor(({ event }) => event === 'svc.live', 'live');
    assert.deepEqual(empty.seqs(), [2, 3], 'an empty header names nothing');
  });

  it('answers calls: ping, and resume from an id with a filter', async (t) => {
    const log = eventLog(t);
    await log.emit(3, { endpoint: 'root/irc:irc' });
    await log.emit(3, { endpoint: 'root/hook:hook' });
    const { url, counts } = await serveEvents(t, log);
    const client = await open(t, `${url}/api/ws`);
    await client.waitFor(({ event }) => event === 'svc.live', 'live');

    client.socket.send(JSON.stringify({ kind: 'ping', call: 'a' }));
    client.socket.send(JSON.stringify({ kind: 'resume', lastEventId: `${EPOCH}.1`, endpoints: 'irc' }));
    client.socket.send(JSON.stringify({ kind: 'resume', call: 'b', lastEventId: 'garbage', gap: 'fail' }));
    client.socket.send('{"kind":"drop all","call":"c"}');
    client.socket.send('{"kind":"ping","call":1}');
    client.socket.send('{"kind":"ping","call":{"a":1}}');
    client.socket.send('not json');
    await until(
      () => client.messages.filter(({ kind }) => kind === 'error').length === 5 && client.seqs().length === 2,
      {
        what: 'the refusals, and what the filter lets through',
      },
    );

    assert.equal((await client.waitFor(({ kind }) => kind === 'pong', 'pong')).call, 'a');
    assert.deepEqual(client.seqs(), [2, 3]);
    assert.equal(client.messages.filter(({ event }) => event === 'svc.hello').length, 2);
    assert.deepEqual(
      client.messages.filter(({ kind }) => kind === 'error').map(({ call, code }) => [call, code]),
      [
        ['b', 'history_expired'],
        ['c', 'invalid_request'],
        [1, 'invalid_request'],
        [undefined, 'invalid_request'],
        [undefined, 'invalid_request'],
      ],
    );
    assert.deepEqual(counts.gaps, ['malformed']);
  });

  it('sees demo fields only with demo scope', async (t) => {
    const log = eventLog(t);
    const { url } = await serveEvents(t, log);
    const client = await open(t, `${url}/api/ws?as=demo`);
    await client.waitFor(({ event }) => event === 'svc.live', 'live');

    await log.record([
      {
        type: 'inbox.dropped',
        at: 1,
        runtimeId: 'r',
        actor: 'token:ops',
        data: { item: 'i', reason: 'spam from alice' },
      },
    ]);
    const message = await client.waitFor(({ event }) => event === 'inbox.dropped', 'the event');

    assert.deepEqual(message.data?.['data'], { item: 'i' });
    assert.doesNotMatch(JSON.stringify(message), /alice|token:ops/);
  });

  it('closes with 1012 on a drain and 1008 when the token is gone', async (t) => {
    const log = eventLog(t);
    const { url, gateway } = await serveEvents(t, log);
    const revoked = await open(t, `${url}/api/ws?name=old`);
    const drained = await open(t, `${url}/api/ws?name=kept`);
    await drained.waitFor(({ event }) => event === 'svc.live', 'live');

    gateway.closeRevoked(new Set(['token:kept']));
    assert.equal(await revoked.closed, 1008);
    await gateway.drain();

    assert.equal(await drained.closed, 1012);
    assert.ok(drained.messages.some(({ event }) => event === 'svc.drain'));
    await assert.rejects(open(t, `${url}/api/ws`), /503/);
  });

  it('cuts a peer that does not answer pings', async (t) => {
    const log = eventLog(t);
    const { port, counts } = await serveEvents(t, log, { pingMs: 1_000 });

    await rawOpen(t, port);

    await until(() => counts.clients === 0, { what: 'the silent peer to be cut' });
  });

  it('cuts a peer that never reads', async (t) => {
    const log = eventLog(t);
    const { url, counts } = await serveEvents(t, log, { stallMs: 100, highWaterBytes: 64 * 1024 });
    const client = await open(t, `${url}/api/ws`);
    await client.waitFor(({ event }) => event === 'svc.live', 'live');
    client.socket.pause();

    await until(
      async () => {
        await log.emit(2_000);
        return counts.slowClosed === 1;
      },
      { what: 'the cut' },
    );

    client.socket.resume();
    assert.equal(await client.closed, 1006);
    assert.equal(counts.clients, 0);
  });

  it('refuses a wrong filter and a wrong start before the handshake', async (t) => {
    const log = eventLog(t);
    const { url, counts } = await serveEvents(t, log);

    await assert.rejects(open(t, `${url}/api/ws?types=..`), /400/);
    await assert.rejects(open(t, `${url}/api/ws?lastEventId=x&gap=fail`), /410/);
    assert.deepEqual(counts.gaps, ['malformed']);
  });
});

describe('WebSocket under hostile frames', () => {
  const cases = [
    { name: 'an unmasked frame', code: 1002, bytes: () => frame(0x81, Buffer.from('{}'), false) },
    { name: 'a reserved opcode', code: 1002, bytes: () => frame(0x83, Buffer.from('x')) },
    { name: 'a binary message', code: 1003, bytes: () => frame(0x82, Buffer.from('x')) },
    { name: 'invalid UTF-8', code: 1007, bytes: () => frame(0x81, Buffer.from([0xff, 0xfe])) },
    {
      name: 'a message of more than 256 KiB',
      code: 1009,
      bytes: () => Buffer.from([0x81, 0xff, 0, 0, 0, 0, 0, 4, 0, 1, 0, 0, 0, 0]),
    },
    {
      name: 'a flood of fragments',
      code: 1008,
      bytes: () =>
        Buffer.concat([
          frame(0x01, Buffer.from('{')),
          ...Array.from({ length: 80 }, () => frame(0x00, Buffer.from(' '))),
        ]),
    },
    {
      name: 'a flood of pings',
      code: 1008,
      bytes: () => Buffer.concat(Array.from({ length: 150 }, () => frame(0x89, Buffer.alloc(0)))),
    },
    {
      name: 'a flood of calls',
      code: 1008,
      bytes: () => Buffer.concat(Array.from({ length: 150 }, () => frame(0x81, Buffer.from('{"kind":"ping"}')))),
    },
  ];
  for (const { name, code, bytes } of cases) {
    it(`answers ${name} with ${code} and goes on serving`, async (t) => {
      const log = eventLog(t);
      const { url, port, counts } = await serveEvents(t, log);
      const { socket, closeCode } = await rawOpen(t, port);

      socket.write(bytes());

      assert.equal(await closeCode(), code);
      socket.destroy();
      await until(() => counts.clients === 0, { what: 'the peer to be forgotten' });
      const good = await open(t, `${url}/api/ws`);
      await good.waitFor(({ event }) => event === 'svc.live', 'a good client');
    });
  }
});
