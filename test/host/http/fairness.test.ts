// One client, or one address, takes nothing that others need: requests that nobody waits for, connections that ask for nothing.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import { FULL_TOKEN } from '../../support/hosts/fake-host-port.ts';
import { holdStatus, type ServerUnderTest, startHttp } from '../../support/http/http-server.ts';
import { requestText } from '../../support/http/raw-http.ts';
import { until } from '../../support/until.ts';

const full = `Authorization: Bearer ${FULL_TOKEN}`;
const STATUS = requestText('GET /api/system/status', [full]);
const MANY = 3_000;
/** Together more than the kernel takes for a client that does not read. */
const FEWER = 1_000;
const LONG = 50_000;

function client(t: TestContext, { port }: ServerUnderTest, { allowHalfOpen = false } = {}) {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen });
  t.after(() => socket.destroy());
  let text = '';
  let isClosed = false;
  socket
    .on('error', () => {})
    .on('close', () => (isClosed = true))
    .setEncoding('latin1')
    .on('data', (chunk: string) => (text += chunk));
  return {
    socket,
    closed: () => isClosed,
    statuses: () => [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status)),
    text: () => text,
  };
}

/** Counts the requests for the status that were begun; each is answered once `answer` was called. */
function counted(server: ServerUnderTest): { begun: () => number; answer: () => void } {
  const answer = holdStatus(server);
  const { status } = server.host.system;
  let begun = 0;
  server.host.system.status = () => {
    begun += 1;
    return status();
  };
  return { begun: () => begun, answer };
}

async function settled(server: ServerUnderTest): Promise<void> {
  for (let n = 0; n < 3; n += 1) assert.equal((await server.raw('GET /pub/health')).status, 200);
}

describe('requests behind one another', () => {
  it('are begun sixteen at a time; others are served meanwhile, and all are answered in the end', async (t) => {
    const server = await startHttp(t);
    const { begun, answer } = counted(server);
    const pipelining = client(t, server);
    pipelining.socket.write(STATUS.repeat(MANY));
    await until(() => begun() === 16, { what: 'the first sixteen' });

    await settled(server);
    assert.equal((await server.raw('GET /api/plugins', [full])).status, 200);
    assert.equal(begun(), 16);

    answer();
    await until(() => pipelining.statuses().length === MANY, { what: 'every answer' });
    assert.deepEqual(new Set(pipelining.statuses()), new Set([200]));
    assert.equal(begun(), MANY);
  });

  it('keep their order and their bodies, wherever the connection was held', async (t) => {
    const server = await startHttp(t);
    const got: string[] = [];
    server.host.deliveries.limit = () => 100_000;
    server.host.deliveries.deliver = async ({ body }) => {
      got.push(body.toString());
      return { status: 200, json: { n: body.toString().length } };
    };
    const bodies = Array.from({ length: 400 }, (_, n) => `${n}:${'x'.repeat((n * 37) % 900)}`);
    const pipelining = client(t, server);
    pipelining.socket.write(
      bodies.map((body) => requestText('POST /webhooks/a', [`Content-Length: ${body.length}`], body)).join(''),
    );

    await until(() => pipelining.statuses().length === bodies.length, { what: 'every answer' });
    assert.deepEqual(got, bodies);
  });

  it('are begun to the last one for a client that has closed its side, before its connection ends', async (t) => {
    for (const count of [1, 16, 17, 18, 100, MANY]) {
      const server = await startHttp(t);
      const { begun, answer } = counted(server);
      answer();
      const halfClosed = client(t, server, { allowHalfOpen: true });
      halfClosed.socket.end(STATUS.repeat(count));

      await until(halfClosed.closed, { what: 'the end' });
      assert.equal(begun(), count);
    }
  });

  it('go with their connection, and with an answer that is the last', async (t) => {
    const server = await startHttp(t);
    const pipelining = client(t, server);
    pipelining.socket.write(
      STATUS.repeat(20) + requestText('GET /pub/health', ['Connection: close']) + STATUS.repeat(20),
    );

    await until(pipelining.closed, { what: 'the end' });
    assert.equal(pipelining.statuses().length, 21);
    await settled(server);
  });

  it('whose answers nobody reads are begun no further', async (t) => {
    const server = await startHttp(t);
    let begun = 0;
    server.host.system.status = async () => {
      begun += 1;
      return { long: 'x'.repeat(LONG) };
    };
    const unread = client(t, server);
    unread.socket.pause();
    unread.socket.write(STATUS.repeat(FEWER));
    let before = -1;
    await until(
      async () => {
        const isStill = begun > 0 && begun === before;
        before = begun;
        await settled(server);
        return isStill;
      },
      { what: 'the host to begin no more', everyMs: 250 },
    );
    assert.ok(begun < FEWER / 2, `${begun} of ${FEWER} were begun, and nobody has read one`);

    unread.socket.resume();
    await until(() => begun === FEWER && unread.text().length > FEWER * LONG, {
      what: 'every answer once they are read',
    });
  });

  it('of many connections leave a turn to each: one that asks once is answered before the flood is', async (t) => {
    const server = await startHttp(t);
    server.host.deliveries.deliver = async () => ({ status: 202 });
    const flood = Array.from({ length: 20 }, () => client(t, server));
    for (const { socket } of flood) socket.write(STATUS.repeat(MANY));
    const answered = (): number => flood.reduce((sum, { statuses }) => sum + statuses().length, 0);
    await until(() => answered() > 0, { what: 'the flood', everyMs: 1 });

    for (let n = 0; n < 5; n += 1) {
      assert.equal((await server.raw('GET /api/plugins', [full])).status, 200);
      assert.equal((await server.raw('POST /webhooks/hook', ['Content-Length: 2'], '{}')).status, 202);
      assert.equal((await server.raw('GET /api/plugins')).status, 401);
    }
    assert.ok(answered() < (flood.length * MANY) / 2, 'the flood was over before them');
  });
});

describe('near the limit of connections', () => {
  const limits = { connections: 64 };
  /** Of `connections`; the rest is for the ones that leave and those that come. */
  const STAND = 59;

  async function connected(t: TestContext, server: ServerUnderTest, count: number): Promise<readonly Socket[]> {
    const sockets = Array.from({ length: count }, () => connect(server.port, '127.0.0.1').on('error', () => {}));
    t.after(() => sockets.forEach((socket) => socket.destroy()));
    await Promise.all(sockets.map((socket) => once(socket, 'connect')));
    return sockets;
  }

  it('whoever asks gets in, although others connected first and say nothing; those who use theirs keep it', async (t) => {
    const server = await startHttp(t, { limits });
    server.host.deliveries.deliver = async () => ({ status: 202 });
    const stream = client(t, server);
    stream.socket.write(requestText('GET /api/events', [full]));
    await until(() => stream.statuses().length === 1, { what: 'a stream' });
    const silent = await connected(t, server, 200);

    for (let n = 0; n < 20; n += 1) {
      assert.equal((await server.raw('GET /pub/health')).status, 200);
      assert.equal((await server.raw('POST /webhooks/hook', ['Content-Length: 2'], '{}')).status, 202);
    }
    await until(() => silent.filter(({ destroyed }) => !destroyed).length <= limits.connections / 4, {
      what: 'most of the silent ones to be closed',
    });
    assert.equal(stream.closed(), false);
  });

  it('the one that is idle for the longest makes room, then one whose client does not go on', async (t) => {
    const server = await startHttp(t, { limits });
    const idle: ReturnType<typeof client>[] = [];
    for (let n = 0; n < STAND; n += 1) {
      const one = client(t, server);
      one.socket.write(requestText('GET /pub/health'));
      await until(() => one.statuses().length === 1, { what: 'an answer', everyMs: 1 });
      idle.push(one);
    }
    for (let n = 0; n < 10; n += 1) assert.equal((await server.raw('GET /pub/health')).status, 200);
    await connected(t, server, 5);
    await until(() => idle.some(({ closed }) => closed()), { what: 'an idle one to make room' });
    assert.equal(idle[0]?.closed(), true);
    assert.equal(idle.at(-1)?.closed(), false);

    const slow = Array.from({ length: 2 * STAND }, () => client(t, server));
    for (const { socket } of slow)
      socket.write('POST /webhooks/hook HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nx');
    await until(() => idle.every(({ closed }) => closed()), { what: 'all idle ones to make room' });
    for (let n = 0; n < 20; n += 1) assert.equal((await server.raw('GET /pub/health')).status, 200);
    assert.ok(slow.some(({ closed }) => closed()));
  });
});
