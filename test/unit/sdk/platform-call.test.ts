// Over real sockets: what a platform, or what stands before it, may do to a call.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createSecure } from 'node:https';
import { type AddressInfo, createServer as createPlain, type Server, type Socket } from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import { callPlatform } from '../../../worker/sdk/platform-call.ts';
import { selfSigned } from '../../support/self-signed.ts';

const NEVER = new AbortController().signal;
const get = { method: 'GET', signal: NEVER };

describe('callPlatform', { timeout: 120_000 }, () => {
  it('sends a text with its length and gives status, headers and text of the answer', async (t) => {
    const url = await serving(t, async (request, response) => {
      const told = [request.method, request.url, request.headers['content-length'], request.headers['content-type']];
      response.writeHead(201, 'Made', { 'Retry-After': '7', 'content-type': 'application/json' });
      response.end(JSON.stringify({ told, body: await textOf(request) }));
    });
    const headers = { 'content-type': 'application/json' };

    const answer = await callPlatform(`${url}/a?b=c`, { method: 'POST', headers, body: '{"ä":1}', signal: NEVER });

    assert.deepEqual([answer.status, answer.ok, answer.statusText], [201, true, 'Made']);
    assert.deepEqual([answer.headers.get('RETRY-after'), answer.headers.has('x')], ['7', false]);
    const wanted = { told: ['POST', '/a?b=c', '8', 'application/json'], body: '{"ä":1}' };
    assert.deepEqual([await answer.json(), JSON.parse(await answer.text())], [wanted, wanted]);
    assert.equal(Buffer.from(await answer.arrayBuffer()).toString(), await answer.text());
  });

  it('follows no redirect (H1)', async (t) => {
    let calls = 0;
    const url = await serving(t, (_request, response) => {
      calls += 1;
      response.writeHead(307, { location: '/elsewhere' }).end();
    });

    const answer = await callPlatform(url, { ...get, headers: { authorization: 'secret' } });

    assert.deepEqual([answer.status, answer.ok, answer.headers.get('location'), calls], [307, false, '/elsewhere', 1]);
  });

  it('streams a body as it is taken, and has no part of it after its error', async (t) => {
    const url = await serving(t, async (request, response) => void response.end(await textOf(request)));
    async function* body(fault?: Error) {
      yield Buffer.from('one ');
      if (fault !== undefined) throw fault;
      yield Buffer.from('two');
    }

    const answer = await callPlatform(url, { method: 'POST', body: body(), signal: NEVER });
    assert.equal(await answer.text(), 'one two');

    const call = callPlatform(url, { method: 'POST', body: body(new Error('no file')), signal: NEVER });
    await assert.rejects(call, /no file/);
  });

  it('ends a body of which the answer is here already (H2)', async (t) => {
    const url = await serving(t, (_request, response) => void response.writeHead(413).end('too large'));
    let ended = (): void => {};
    const over = new Promise<void>((resolve) => {
      ended = resolve;
    });
    async function* endless() {
      try {
        for (;;) yield Buffer.alloc(65_536);
      } finally {
        ended();
      }
    }

    const answer = await callPlatform(url, { method: 'POST', body: endless(), signal: NEVER });

    assert.deepEqual([answer.status, await answer.text()], [413, 'too large']);
    await over;
  });

  it('takes no answer that is too long, and none that is broken off (H2)', async (t) => {
    const long = await serving(t, (_request, response) => void response.end('x'.repeat(200_000)));
    await assert.rejects(callPlatform(long, { ...get, mostBytes: 199_999 }), { code: 'ERR_ANSWER_TOO_LARGE' });
    assert.equal((await (await callPlatform(long, { ...get, mostBytes: 200_000 })).text()).length, 200_000);

    for (const head of ['content-length: 10\r\n\r\nhalf', 'transfer-encoding: chunked\r\n\r\n4\r\nhalf\r\n', '', 'x']) {
      const broken = await speaking(t, (socket) => socket.end(`HTTP/1.1 200 OK\r\n${head}`));
      await assert.rejects(callPlatform(broken, get), Error);
    }
  });

  it('ends with its signal, for its reason: before, without an answer, within one (H3)', async (t) => {
    const before = AbortSignal.abort(new Error('over'));
    await assert.rejects(callPlatform('http://127.0.0.1:1/', { ...get, signal: before }), /over/);
    for (const head of ['', 'HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf']) {
      const abort = new AbortController();
      let closed: Promise<unknown> | undefined;
      const url = await speaking(t, (socket) => {
        closed = new Promise((resolve) => socket.once('close', resolve));
        socket.write(head, () => abort.abort());
      });
      await assert.rejects(callPlatform(url, { ...get, signal: abort.signal }), { name: 'AbortError' });
      await closed;
    }
    const silent = await speaking(t, () => {});
    await assert.rejects(callPlatform(silent, { ...get, signal: AbortSignal.timeout(20) }), { name: 'TimeoutError' });
  });

  it('tells by its code why nobody was reached', async (t) => {
    const url = await speaking(t, (socket) => socket.resetAndDestroy());
    await assert.rejects(callPlatform(url, get), { code: 'ECONNRESET' });
    await assert.rejects(callPlatform('http://127.0.0.1:1/', get), { code: 'ECONNREFUSED' });
  });

  it('uses a connection again, one for each call that runs (H4)', async (t) => {
    const sockets = new Set<unknown>();
    const url = await serving(t, (request, response) => {
      sockets.add(request.socket);
      response.end();
    });
    for (let n = 0; n < 3; n += 1) await callPlatform(url, get);
    assert.equal(sockets.size, 1);

    await Promise.all([callPlatform(url, get), callPlatform(url, get)]);
    assert.equal(sockets.size, 2);
  });

  it('asks nobody whose certificate is not trusted (H4)', async (t) => {
    const server = createSecure(selfSigned(), (_request, response) => void response.end());
    const port = await listening(t, server);
    await assert.rejects(callPlatform(`https://127.0.0.1:${port}/`, get), { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' });
  });
});

async function serving(
  t: TestContext,
  answer: (request: IncomingMessage, response: ServerResponse) => unknown,
): Promise<string> {
  const server = createServer(answer);
  t.after(() => server.closeAllConnections());
  return `http://127.0.0.1:${await listening(t, server)}`;
}

/** A server that says what it likes once a request is there. */
async function speaking(t: TestContext, speak: (socket: Socket) => unknown): Promise<string> {
  const server = createPlain((socket) => {
    t.after(() => socket.destroy());
    socket.on('error', () => {}).once('data', () => speak(socket));
  });
  return `http://127.0.0.1:${await listening(t, server)}/`;
}

async function listening(t: TestContext, server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => void server.close());
  return (server.address() as AddressInfo).port;
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request.setEncoding('utf8')) text += String(chunk);
  return text;
}
