// Bodies of which nobody knows yet whose they are: their bytes in memory are bounded, those that are small always get in.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import { type ServerUnderTest, startHttp } from '../../../support/http/http-server.ts';
import { sendRaw } from '../../../support/http/raw-http.ts';
import { until } from '../../../support/until.ts';

const MIB = 1024 * 1024;
const CHUNK = Buffer.alloc(MIB, 'x');
const headOf = (bytes: number): string => `POST /webhooks/a HTTP/1.1\r\nHost: x\r\nContent-Length: ${bytes}\r\n\r\n`;

/** Sends all of a body but its last MiB. The server holds that much of it then: bytes on their way could still be refused. */
async function begin(context: TestContext, { http, port }: ServerUnderTest, mib: number) {
  const accepted = once(http.server, 'connection') as Promise<[Socket]>;
  const socket = connect(port, '127.0.0.1').on('error', () => {}); // its end may be a reset
  context.after(() => socket.destroy());
  const begun = { socket, answer: '' };
  socket.on('data', (chunk: Buffer) => {
    begun.answer += chunk.toString();
  });
  const [taken] = await accepted;
  socket.write(headOf(mib * MIB));
  for (let n = 1; n < mib; n += 1) socket.write(CHUNK);
  while (taken.bytesRead < (mib - 1) * MIB) {
    assert.equal(begun.answer, '');
    await new Promise((resolve) => setTimeout(resolve, 10)); // `until` would never end: its clock stands still
  }
  return begun;
}

/** The whole answer, once the server has ended the connection: then it has let the bytes of the body go. */
async function sendAlone(port: number, bytes: number): Promise<string> {
  const socket = connect(port, '127.0.0.1').on('error', () => {}); // a refused body may end it with a reset
  socket.write(headOf(bytes).replace('Host: x', 'Host: x\r\nConnection: close'));
  socket.write(Buffer.alloc(bytes, 'x'));
  let answer = '';
  socket.on('data', (chunk: Buffer) => {
    answer += chunk.toString();
  });
  await once(socket, 'close');
  return answer;
}

describe('bodies under way', () => {
  it('are bounded for one client together, but for small ones, and there is room again when they are gone', async (context) => {
    // A slow body makes room for others: on a busy machine each of them is slow by the real clock.
    const clock = context.mock.method(performance, 'now', () => 1_000);
    context.after(() => clock.mock.restore()); // before the server ends, which looks at the clock
    const server = await startHttp(context, { timeouts: { requestMs: 600_000 } });
    const { host, port } = server;
    const got: number[] = [];
    host.deliveries.limit = () => 25 * MIB;
    host.deliveries.deliver = async ({ body }) => {
      got.push(body.length);
      return { status: 200 };
    };
    const [first, second] = [await begin(context, server, 25), await begin(context, server, 25)];
    const chunked = `POST /webhooks/a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n`;
    const flood = `${MIB.toString(16)}\r\n${'x'.repeat(MIB)}\r\n`;
    const refused = await sendRaw(port, headOf(20 * MIB));
    const streamed = await sendRaw(port, chunked, { flood });
    const small = await sendRaw(port, `${headOf(2)}{}`);
    // The bytes of the one that was refused last are let go a moment after its answer.
    let alone = '';
    // `until` would never end: its clock stands still.
    for (let n = 0; n < 3_000 && !alone.startsWith('HTTP/1.1 200 '); n += 1) {
      await new Promise((resolve) => setTimeout(resolve, 10));
      alone = await sendAlone(port, 4 * MIB);
    }
    assert.deepEqual([first.answer, second.answer], ['', ''], 'what came before is held');
    assert.match(alone, /^HTTP\/1\.1 200 /, 'room for what is left');
    first.socket.write(CHUNK);
    if (first.answer === '') await once(first.socket, 'data');
    clock.mock.restore();
    first.socket.destroy();
    second.socket.destroy();
    // The server may not have seen yet that both are gone: then it refuses, and an end of the connection may come before that is read.
    const large = Buffer.concat([Buffer.from(headOf(20 * MIB)), Buffer.alloc(20 * MIB)]);
    const sent = async () => [await sendRaw(port, large)].find(({ status }) => status === 200);
    const later = await until(sent, { what: 'room again' });

    assert.deepEqual([refused.status, refused.headers['retry-after']], [503, '2']);
    assert.match(refused.body, /"code":"overloaded"/);
    assert.equal(streamed.status, 503);
    assert.equal(small.status, 200);
    assert.match(first.answer, /^HTTP\/1\.1 200 /);
    assert.equal(later.status, 200);
    assert.deepEqual(got, [2, 4 * MIB, 25 * MIB, 20 * MIB]);
  });
});
