// Over real sockets: what a platform, or what stands before it, may do to a call.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createSecure } from 'node:https';
import { type AddressInfo, createServer as createPlain, type Server, type Socket } from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import { inspect } from 'node:util';
import { callPlatform } from '../../../worker/sdk/platform/platform-call.ts';
import { selfSigned } from '../../support/http/self-signed.ts';

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

  it('follows no redirect (PLATFORM-CALL-1)', async (t) => {
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

  it('ends a body of which the answer is here already (PLATFORM-CALL-2)', async (t) => {
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

  it('takes no answer that is too long, and none that is broken off (PLATFORM-CALL-2)', async (t) => {
    const long = await serving(t, (_request, response) => void response.end('x'.repeat(200_000)));
    await assert.rejects(callPlatform(long, { ...get, mostBytes: 199_999 }), { code: 'ERR_ANSWER_TOO_LARGE' });
    assert.equal((await (await callPlatform(long, { ...get, mostBytes: 200_000 })).text()).length, 200_000);

    for (const head of ['content-length: 10\r\n\r\nhalf', 'transfer-encoding: chunked\r\n\r\n4\r\nhalf\r\n', '', 'x']) {
      const broken = await speaking(t, (socket) => socket.end(`HTTP/1.1 200 OK\r\n${head}`));
      await assert.rejects(callPlatform(broken, get), Error);
    }
  });

  it('ends with its signal, for its reason: before, without an answer, within one (PLATFORM-CALL-3)', async (t) => {
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

  it('does not wait for an answer behind a change of the protocol', async (t) => {
    const url = await speaking(t, (socket) =>
      socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n'),
    );
    await assert.rejects(callPlatform(url, get), { code: 'ERR_UPGRADED' });
  });

  it('ends after ten seconds in which nobody took the connection (PLATFORM-CALL-3)', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const silent = createPlain((socket) => {
      t.after(() => socket.destroy());
      socket.on('error', () => {}).once('data', () => t.mock.timers.tick(10_000)); // the client's hello, which nobody answers
    });
    const port = await listening(t, silent);
    await assert.rejects(callPlatform(`https://127.0.0.1:${port}/`, get), { code: 'ETIMEDOUT' });
  });

  it('takes answers without a body, in pieces, behind others, and until the end of the connection', async (t) => {
    const chunked = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n';
    for (const [said, status, text] of [
      ['HTTP/1.1 204 No Content\r\n\r\n', 204, ''],
      ['HTTP/1.1 304 Not Modified\r\ncontent-length: 7\r\n\r\n', 304, ''],
      [
        `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\n${chunked}2\r\nan\r\n4\r\nswer\r\n0\r\n\r\n`,
        200,
        'answer',
      ],
      ['HTTP/1.0 200 OK\r\n\r\nall of it', 200, 'all of it'],
    ] as const) {
      const url = await speaking(t, (socket) => {
        for (const character of said) socket.write(character);
        socket.end();
      });
      const answer = await callPlatform(url, get);
      assert.deepEqual([answer.status, await answer.text()], [status, text]);
    }
    for (const said of ['SSH-2.0-x\r\n', 'HTTP/1.1 abc OK\r\n\r\n', 'HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n']) {
      const url = await speaking(t, (socket) => socket.end(said));
      await assert.rejects(callPlatform(url, get), { code: /^HPE_/ });
    }
  });

  it('tells by its code why nobody was reached', async (t) => {
    const url = await speaking(t, (socket) => socket.resetAndDestroy());
    await assert.rejects(callPlatform(url, get), { code: 'ECONNRESET' });
    await assert.rejects(callPlatform('http://127.0.0.1:1/', get), { code: 'ECONNREFUSED' });
  });

  it('uses a connection again, one for each call that runs (PLATFORM-CALL-4)', async (t) => {
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

  it('says of a kept connection that ended under a call that nobody knows: the call is made once (PLATFORM-CALL-4)', async (t) => {
    for (const end of ['destroySoon', 'resetAndDestroy'] as const) {
      const posts: string[] = [];
      const url = await serving(t, async (request, response) => {
        posts.push(await textOf(request));
        if (posts.length === 2) request.socket[end]();
        else response.end();
      });
      const say = (body: string) => callPlatform(url, { method: 'POST', body, signal: NEVER });

      await say('one');
      await assert.rejects(say('two'), { code: 'ECONNRESET' });
      await say('three');

      assert.deepEqual(posts, ['one', 'two', 'three']);
    }
  });

  it('keeps calls of many accounts apart, and holds secrets back in what it throws', async (t) => {
    const url = await serving(t, (request, response) => {
      if (request.url === '/lost') request.socket.destroy();
      else response.end(request.headers.authorization);
    });
    const called = await Promise.all(
      Array.from({ length: 100 }, async (_, n) => {
        const { signal } = new AbortController();
        const answer = await callPlatform(url, { method: 'GET', signal, headers: { authorization: `s3cret-${n}` } });
        return (await answer.text()) === `s3cret-${n}`;
      }),
    );
    assert.ok(called.every(Boolean));

    for (const [path, authorization] of [
      ['/lost', 's3cret'],
      ['/', 's3cret\n'],
    ] as const)
      await assert.rejects(
        callPlatform(`${url}${path}`, { ...get, headers: { authorization } }),
        (error) => !inspect(error, { depth: 10, showHidden: true }).includes('s3cret'),
      );
  });

  it('asks nobody whose certificate is not trusted (PLATFORM-CALL-4)', async (t) => {
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
