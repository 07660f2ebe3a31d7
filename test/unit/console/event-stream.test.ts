import assert from 'node:assert/strict';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import fc from 'fast-check';
import { followEvents, type StreamState } from '../../../worker/console/src/event-stream.ts';
import { type Frame, SseParser } from '../../../worker/console/src/sse-parser.ts';
import { until } from '../../support/until.ts';

describe('SseParser', () => {
  const stream =
    ': hi\r\nretry: 250\nid: a.1\nevent: x\ndata: one\rdata:two\n\ndata\n\nid: bad\u0000id\ndata: {"a":1}\r\n\r\nevent: cut\ndata: off';
  const frames: readonly Frame[] = [
    { event: 'x', data: 'one\ntwo', id: 'a.1' },
    { event: 'message', data: '', id: 'a.1' },
    { event: 'message', data: '{"a":1}', id: 'a.1' },
  ];

  it('reads fields, line ends and ids as the standard says', () => {
    assert.deepEqual(new SseParser().push(stream), { frames, retryMs: 250 });
  });

  it('reads the same wherever the chunks are cut (CONSOLE-SSE-1)', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: stream.length })), (cuts) => {
        const parser = new SseParser();
        const places = [0, ...[...cuts].sort((a, b) => a - b), stream.length];

        const read = places.slice(1).flatMap((end, i) => parser.push(stream.slice(places[i], end)).frames);

        assert.deepEqual(read, frames);
      }),
    );
  });
});

describe('followEvents', () => {
  it('resumes after the last id with the token of the moment, through losses and refusals of the host (CONSOLE-STREAM-1 to 3)', async (t) => {
    const seen: IncomingMessage['headers'][] = [];
    let token = 'first';
    const url = await server(t, (request, response, nth) => {
      seen.push(request.headers);
      if (nth === 2) return response.writeHead(503).end();
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(
        `retry: 50\nevent: svc.hello\ndata: {"heartbeatMs":15000}\n\nid: e.${nth}\nevent: inbox.received\ndata: {}\n\n`,
      );
      if (nth === 1) response.end();
      token = 'second';
    });
    const states: StreamState[] = [];
    const frames: Frame[] = [];

    const stream = followEvents({
      url,
      from: 'e.0',
      token: () => token,
      onFrame: (frame) => frames.push(frame),
      onState: (state) => states.push(state),
      onRefused: () => {},
      random: () => 0,
    });
    t.after(() => stream.close());
    await until(() => frames.length === 4, { what: 'the frames of two connections' });

    assert.deepEqual(
      seen.map((headers) => [headers.authorization, headers['last-event-id']]),
      [
        ['Bearer first', 'e.0'],
        ['Bearer second', 'e.1'],
        ['Bearer second', 'e.1'],
      ],
    );
    assert.deepEqual(states, ['connecting', 'live', 'lost', 'lost', 'lost', 'lost', 'live']);
    assert.ok(seen.every((headers) => headers.cookie === undefined));
  });

  it('ends at 401 and 403, and says so once (CONSOLE-STREAM-1)', async (t) => {
    let requests = 0;
    const url = await server(t, (_request, response) => {
      requests += 1;
      response.writeHead(401).end();
    });
    const refused: number[] = [];

    const stream = followEvents({
      url,
      from: undefined,
      token: () => 'x',
      onFrame() {},
      onState() {},
      onRefused: (status) => refused.push(status),
    });
    t.after(() => stream.close());
    await until(() => refused.length > 0, { what: 'the refusal' });

    assert.deepEqual([refused, requests], [[401], 1]);
  });

  it('takes silence of two heartbeats for a loss (CONSOLE-STREAM-3)', async (t) => {
    let connections = 0;
    const url = await server(t, (_request, response) => {
      connections += 1;
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('retry: 50\nevent: svc.hello\ndata: {"heartbeatMs":100}\n\n');
    });

    const stream = followEvents({
      url,
      from: undefined,
      token: () => 'x',
      onFrame() {},
      onState() {},
      onRefused() {},
      random: () => 0,
    });
    t.after(() => stream.close());

    await until(() => connections >= 2, { what: 'a second connection' });
  });
});

type Handler = (request: IncomingMessage, response: ServerResponse, nth: number) => void;
async function server(t: TestContext, handle: Handler): Promise<URL> {
  let nth = 0;
  const http = createServer((request, response) => handle(request, response, ++nth));
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    http.closeAllConnections();
    http.close();
  });
  return new URL(`http://127.0.0.1:${(http.address() as AddressInfo).port}/api/events`);
}
