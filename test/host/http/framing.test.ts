// Hostile inputs 19 to 25: how requests are framed, how large and how slow they may be, how many there may be.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { describe, it } from 'node:test';
import { FULL_TOKEN } from '../../support/hosts/fake-host-port.ts';
import { type ServerUnderTest, startHttp } from '../../support/http/http-server.ts';
import { requestText, sendRaw } from '../../support/http/raw-http.ts';
import { until } from '../../support/until.ts';

const full = `Authorization: Bearer ${FULL_TOKEN}`;
const json = 'Content-Type: application/json';
const RESTART = 'POST /api/system/restart';

const isServed = async (server: ServerUnderTest): Promise<boolean> =>
  (await server.raw('GET /pub/health')).status === 200;

async function stillServes(server: ServerUnderTest): Promise<void> {
  assert.equal(await isServed(server), true);
}

describe('framing over HTTP', () => {
  const malformed: Readonly<Record<string, string>> = {
    'CL and TE': requestText(RESTART, [full, 'Content-Length: 5', 'Transfer-Encoding: chunked'], '0\r\n\r\n'),
    'two CL': requestText(RESTART, [full, 'Content-Length: 0', 'Content-Length: 2'], '{}'),
    'TE xchunked': requestText(RESTART, [full, 'Transfer-Encoding: xchunked'], '0\r\n\r\n'),
    'TE chunked in HTTP/1.0': `${RESTART} HTTP/1.0\r\nHost: a\r\n${full}\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    'obs-fold': `GET /api/system/status HTTP/1.1\r\nHost: a\r\n${full}\r\nX-A: b\r\n c\r\n\r\n`,
    'bare LF': `GET /api/system/status HTTP/1.1\nHost: a\n${full}\n\n`,
    'NUL in a header': `GET /api/system/status HTTP/1.1\r\nHost: a\r\nX-A: b\u0000c\r\n\r\n`,
    'NUL in the target': `GET /api/system\u0000/status HTTP/1.1\r\nHost: a\r\n\r\n`,
    'blank before the colon': `GET /api/system/status HTTP/1.1\r\nHost : a\r\n\r\n`,
    'no Host': `GET /api/system/status HTTP/1.1\r\n${full}\r\n\r\n`,
    'two Hosts': `GET /api/system/status HTTP/1.1\r\nHost: a\r\nHost: b\r\n${full}\r\n\r\n`,
    'a Host that is none': `GET /pub/health HTTP/1.1\r\nHost: a b\r\n\r\n`,
    'a Host with a path': `GET /api/system/status HTTP/1.1\r\nHost: a/b\r\n${full}\r\n\r\n`,
    'a Host with a user': `GET /api/system/status HTTP/1.1\r\nHost: u@a\r\n${full}\r\n\r\n`,
    'two Hosts on a probe': `GET /pub/health HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n`,
    'HTTP/9.9': `GET /pub/health HTTP/9.9\r\nHost: a\r\n\r\n`,
    TLS: '\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001',
    'a chunk size that is none': requestText(
      RESTART,
      [full, json, 'Transfer-Encoding: chunked'],
      'zz\r\n{}\r\n0\r\n\r\n',
    ),
  };
  it('refuses what two readers could frame differently', async (t) => {
    const server = await startHttp(t);
    for (const [name, text] of Object.entries(malformed)) {
      const answer = await sendRaw(server.port, Buffer.from(text, 'latin1'));
      assert.equal(answer.status, 400, name);
      assert.equal(answer.headers['content-type'], 'application/problem+json', name);
    }
    assert.deepEqual(server.host.calls, []);
    const probes = Object.values(malformed).filter((text) => text.startsWith('GET /pub/health HTTP/1.1'));
    // The one whose body is malformed may be counted as gone.
    const counted = Object.keys(malformed).length - probes.length - 1;
    const refused = () => server.host.observed.filter(({ kind, status }) => kind === 'refused' && status === 400);
    await until(() => refused().length >= counted, { what: 'all are counted with what was sent' });
    await stillServes(server);
  });

  it('counts a request whose body cannot be framed once, with the status that was sent', async (t) => {
    const server = await startHttp(t);
    for (const coding of ['xchunked', 'chunked']) {
      const text = requestText(RESTART, [full, json, `Transfer-Encoding: ${coding}`], 'zz\r\n{}\r\n0\r\n\r\n');
      await readToEnd(server.port, text);
    }
    await until(() => server.host.observed.length >= 2, { what: 'both are counted' });
    await stillServes(server);

    const counted = server.host.observed.map(({ kind, status }) => `${kind} ${status}`);
    assert.deepEqual(counted.slice(0, -1), ['refused 400', 'refused 400']);
  });

  it('closes the connection after a malformed request, so that nothing smuggled behind it is read', async (t) => {
    const server = await startHttp(t);
    const smuggled = requestText('GET /api/system/status', [full]);

    const { text } = await readToEnd(server.port, `${malformed['CL and TE']}${smuggled}`);

    assert.equal(text.match(/HTTP\/1\.1 /g)?.length, 1);
  });

  it('takes no transfer coding but chunked', async (t) => {
    const server = await startHttp(t);
    for (const coding of ['gzip, chunked', 'gzip,chunked', 'identity, chunked']) {
      const { status } = await server.raw(
        RESTART,
        [full, json, `Transfer-Encoding: ${coding}`],
        '2\r\n{}\r\n0\r\n\r\n',
      );
      assert.ok([400, 501].includes(status), `${coding} ${status}`);
    }
    assert.deepEqual(server.host.calls, []);
    assert.equal(
      (await server.raw(RESTART, [full, json, 'Transfer-Encoding: Chunked'], '2\r\n{}\r\n0\r\n\r\n')).status,
      202,
    );
    await stillServes(server);
  });

  it('refuses more than a hundred headers and drops none', async (t) => {
    const server = await startHttp(t);
    const many = (count: number): string[] => Array.from({ length: count }, () => 'a: b');

    assert.equal((await server.raw('GET /api/system/status', [...many(99), full])).status, 431);
    assert.equal((await server.raw('GET /api/system/status', [...many(98), full])).status, 200);
    assert.equal((await server.raw('GET /api/system/status', [...many(2_498), full])).status, 431);
    assert.equal((await server.raw('GET /pub/health', many(2_498))).status, 431);
    await stillServes(server);
  });

  it('refuses a huge header and a huge target', async (t) => {
    const server = await startHttp(t);

    assert.equal((await server.raw('GET /pub/health', [`X-A: ${'a'.repeat(17 * 1024)}`])).status, 431);
    assert.ok([414, 431].includes((await server.raw(`GET /${'a'.repeat(17 * 1024)}`)).status));
    assert.equal((await server.raw(`GET /${'a'.repeat(9 * 1024)}`)).status, 414);
    assert.ok(server.host.observed.some(({ kind, status }) => kind === 'refused' && status === 431));
    await stillServes(server);
  });

  it('ends slow headers, slow bodies and silent connections, and serves others meanwhile', async (t) => {
    const server = await startHttp(t, { timeouts: { headersMs: 400, requestMs: 700, checkMs: 50 } });
    const silent = Array.from({ length: 498 }, () => readToEnd(server.port, ''));
    const slowHeader = drip(server.port, requestText('GET /pub/health', [`X-A: ${'b'.repeat(10_000)}`]));
    const slowBody = drip(server.port, 'x'.repeat(5_000), requestText(RESTART, [full, json, 'Content-Length: 5000']));

    // Where this process is held up, a request of its own is a slow one as well.
    const serves = (): Promise<true> => until(() => isServed(server), { what: 'others to be served' });
    await serves();
    const [header, body, ...others] = await Promise.all([slowHeader, slowBody, ...silent]);

    assert.match(header.text, /^HTTP\/1\.1 408 /);
    assert.match(body.text, /^HTTP\/1\.1 408 /);
    assert.ok(others.every(({ text }) => text === '' || text.startsWith('HTTP/1.1 408 ')));
    assert.ok(
      server.host.observed.some(({ kind, route, status }) => [kind, route, status].join() === 'refused,none,408'),
    );
    await serves();
  });

  it('takes connections up to its cap, closes what comes above, and recovers', async (t) => {
    const server = await startHttp(t, { limits: { connections: 20 } });
    const sockets: Socket[] = [];
    t.after(() => sockets.forEach((socket) => socket.destroy()));
    let closed = 0;
    for (let n = 0; n < 200; n += 1) {
      const socket = connect(server.port, '127.0.0.1').on('error', () => {}); // its end may be a reset
      socket
        .on('error', () => {})
        .on('close', () => {
          closed += 1;
        })
        .resume();
      sockets.push(socket);
    }
    await until(() => closed >= 180, { what: '180 connections are closed' });
    assert.ok(server.host.observed.some(({ kind, status }) => kind === 'refused' && status === 444));
    for (const socket of sockets) socket.destroy();

    await until(async () => (await server.raw('GET /pub/health')).status === 200, { what: 'it serves again' });
  });

  it('limits connections of one address, never of the loopback', async (t) => {
    const server = await startHttp(t, { limits: { connectionsPerAddress: 1 } });
    const sockets = await Promise.all(
      Array.from({ length: 5 }, async () => {
        const socket = connect(server.port, '127.0.0.1').on('error', () => {}); // its end may be a reset
        await once(socket, 'connect');
        return socket;
      }),
    );

    assert.equal((await server.raw('GET /pub/health')).status, 200);
    for (const socket of sockets) socket.destroy();
  });

  it('counts requests under way of a client behind a trusted proxy', async (t) => {
    const server = await startHttp(t, {
      limits: { connectionsPerAddress: 1, streamsPerToken: 10 },
      trustedProxies: ['127.0.0.1'],
    });
    const from = (address: string): string[] => [full, `X-Forwarded-For: ${address}`];
    const stream = connect(server.port, '127.0.0.1').on('error', () => {}); // its end may be a reset
    stream.on('error', () => {}).resume();
    stream.write(requestText('GET /api/events', from('10.0.0.1')));
    await until(() => server.host.streams.size === 1, { what: 'the stream is open' });

    assert.equal((await server.raw('GET /api/system/status', from('10.0.0.1'))).status, 429);
    assert.equal((await server.raw('GET /api/system/status', from('10.0.0.2'))).status, 200);
    stream.destroy();
    await until(async () => (await server.raw('GET /api/system/status', from('10.0.0.1'))).status === 200, {
      what: 'its place is free',
    });
  });

  it('counts a network of 64 bits of IPv6 as one client', async (t) => {
    const limits = { connectionsPerAddress: 1, streamsPerToken: 10 };
    const server = await startHttp(t, { limits, trustedProxies: ['127.0.0.1'] });
    const from = (address: string): string[] => [full, `X-Forwarded-For: ${address}`];
    const stream = connect(server.port, '127.0.0.1').on('error', () => {}); // its end may be a reset
    stream.on('error', () => {}).resume();
    stream.write(requestText('GET /api/events', from('2001:db8:0:7::1')));
    await until(() => server.host.streams.size === 1, { what: 'the stream is open' });

    assert.equal((await server.raw('GET /api/system/status', from('2001:db8:0:7:9::2'))).status, 429);
    assert.equal((await server.raw('GET /api/system/status', from('2001:db8:0:8::1'))).status, 200);
    stream.destroy();
  });

  it('refuses a body over the limit before reading it, and cuts an endless one', async (t) => {
    const server = await startHttp(t);
    const size = 1024 * 1024 + 1;

    const announced = await server.raw(RESTART, [full, json, `Content-Length: ${size}`]);
    assert.equal(announced.status, 413);
    assert.equal(announced.headers.connection, 'close');
    const chunk = `10000\r\n${'a'.repeat(0x10000)}\r\n`;
    const endless = await sendRaw(server.port, requestText(RESTART, [full, json, 'Transfer-Encoding: chunked']), {
      flood: chunk,
    });
    assert.equal(endless.status, 413);
    const webhook = await server.raw('POST /webhooks/hook/main', [`Content-Length: ${2 * size}`]);
    assert.equal(webhook.status, 413);
    assert.deepEqual(server.host.calls, []);
    await stillServes(server);
  });

  it('says 100 only to a request that will be read', async (t) => {
    const server = await startHttp(t);
    const ask = async (line: string, headers: readonly string[]) =>
      server.raw(line, ['Expect: 100-continue', json, ...headers]);

    const huge = await ask(RESTART, [full, 'Content-Length: 999999999']);
    assert.equal(huge.status, 413);
    assert.ok(!huge.text.includes('100 Continue'));
    const stranger = await ask(RESTART, ['Content-Length: 2']);
    assert.equal(stranger.status, 401);
    assert.ok(!stranger.text.includes('100 Continue'));
    assert.equal((await server.raw(RESTART, [full, 'Expect: something'])).status, 417);
    assert.deepEqual(server.host.calls, []);
    const good = await server.raw(RESTART, ['Expect: 100-continue', json, full, 'Content-Length: 2'], '{}');
    assert.equal(good.status, 202);
    assert.ok(good.text.startsWith('HTTP/1.1 100 Continue'));
    await stillServes(server);
  });

  it('survives clients that reset their connection at every step', async (t) => {
    const server = await startHttp(t);
    const upgrade = ['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13'];
    const texts = [
      'CONNECT 127.0.0.1:80 HTTP/1.1\r\nHost: a\r\n\r\n',
      requestText('GET /api/ws', upgrade),
      requestText('GET /api/ws', [full, ...upgrade]),
      requestText('GET /api/system/status', [full, 'Connection: Upgrade', 'Upgrade: h2c']),
      requestText(RESTART, [full, json, 'Content-Length: 5000'], '{'),
      requestText(RESTART, [full, json, 'Content-Length: 99999999'], '{'),
      'garbage\r\n\r\n',
    ];
    for (const text of [...texts, ...texts]) {
      const socket = connect(server.port, '127.0.0.1').on('error', () => {}); // its end may be a reset
      socket.on('error', () => {});
      await once(socket, 'connect');
      await new Promise<void>((resolve) => socket.write(text, () => resolve()));
      socket.resetAndDestroy();
    }
    await stillServes(server);
  });

  it('counts a request whose client goes away in the middle of its body as none that was answered', async (t) => {
    const server = await startHttp(t);
    const socket = connect(server.port, '127.0.0.1').on('error', () => {});
    socket.write(requestText(RESTART, [full, json, 'Content-Length: 100', 'Expect: 100-continue']));
    await once(socket, 'data'); // 100: the body is being read
    socket.destroy();
    await until(() => server.host.observed.length === 1, { what: 'its end' });

    assert.equal(server.host.observed[0]?.status, 499);
  });

  it('ends a connection on which nothing moves', async (t) => {
    const server = await startHttp(t, { timeouts: { idleMs: 200 } });
    server.host.system.status = () => new Promise(() => {});

    const { text } = await readToEnd(server.port, requestText('GET /api/system/status', [full]));

    assert.equal(text, '');
    await stillServes(server);
  });

  it('serves a request that offers an upgrade to anything else as if it did not, with its body and those behind it', async (t) => {
    const server = await startHttp(t);
    const h2c = ['Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABkAAQAAP__'];

    assert.equal((await server.raw('GET /pub/health', h2c)).status, 200);
    assert.equal((await server.raw('GET /api/system/status', [full, ...h2c])).status, 200);
    assert.equal((await server.raw('GET /api/system/status', h2c)).status, 401);
    assert.equal((await server.raw(RESTART, [full, json, 'Content-Length: 2', ...h2c], '{}')).status, 202);
    const chunked = [full, json, 'Transfer-Encoding: chunked', ...h2c];
    assert.equal((await server.raw(RESTART, chunked, '2\r\n{}\r\n0\r\n\r\n')).status, 202);
    const webSocket = ['Connection: Upgrade', 'Upgrade: websocket'];
    assert.equal((await server.raw(RESTART, [full, json, 'Content-Length: 2', ...webSocket], '{}')).status, 202);
    const behind = requestText('GET /pub/ready', ['Connection: close']);
    const both = await readToEnd(
      server.port,
      requestText(RESTART, [full, json, 'Content-Length: 2', ...h2c], '{}') + behind,
    );
    assert.deepEqual(both.text.match(/HTTP\/1\.1 \d+/g), ['HTTP/1.1 202', 'HTTP/1.1 200']);
    await stillServes(server);
  });
});

/** Everything that comes until the server ends the connection. */
function readToEnd(port: number, bytes: string): Promise<{ readonly text: string }> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1').on('error', () => {}); // its end may be a reset
    let text = '';
    socket.on('connect', () => socket.write(bytes));
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
    });
    socket.on('error', () => {});
    socket.on('close', () => resolve({ text }));
  });
}

/** Sends `first` at once, then one byte each 20 ms, until the server ends the connection. */
function drip(port: number, bytes: string, first = ''): Promise<{ readonly text: string }> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1').on('error', () => {}); // its end may be a reset
    let text = '';
    let at = 0;
    if (first !== '') socket.write(first);
    const timer = setInterval(() => {
      if (at < bytes.length && socket.writable) socket.write(bytes.charAt(at));
      at += 1;
    }, 20);
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
    });
    socket.on('error', () => {});
    socket.on('close', () => {
      clearInterval(timer);
      resolve({ text });
    });
  });
}
