// An HTTP server on 127.0.0.1 for the time of a test. An adapter or a plugin calls it instead of the real platform.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { HttpAnswer, RawRequest } from '../sdk/request.ts';

/** Ends the server: the context of a `node:test` test. */
export interface TestOwner {
  after(close: () => void): void;
}

/** Starts the server on a free port and resolves to its address, `http://127.0.0.1:<port>`. If `answer` throws, the response is a 500. */
export async function loopback(owner: TestOwner, answer: (request: RawRequest) => HttpAnswer): Promise<string> {
  return (await loopbackServer(owner, answer)).url;
}

export interface LoopbackServer {
  readonly url: string;
  /** Closes every connection, even in the middle of a response. */
  cut(): void;
}

/** Like `loopback`. If `answer` returns undefined, the connection is closed without a response. */
export async function loopbackServer(
  owner: TestOwner,
  answer: (request: RawRequest) => HttpAnswer | undefined,
): Promise<LoopbackServer> {
  const server = createServer((request, response) => {
    respond(request, response, answer).catch((error: unknown) => response.writeHead(500).end(String(error)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const cut = (): void => server.closeAllConnections();
  owner.after(() => {
    server.close();
    cut();
  });
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return { url: `http://127.0.0.1:${port}`, cut };
}

async function respond(
  request: IncomingMessage,
  response: ServerResponse,
  answer: (request: RawRequest) => HttpAnswer | undefined,
): Promise<void> {
  const given = answer(await readRequest(request));
  if (given === undefined) return void response.destroy();
  const { status = 200, headers = {}, json, text } = given;
  for (const [name, value] of Object.entries(headers)) if (value !== undefined) response.setHeader(name, value);
  response.writeHead(status).end(json === undefined ? text : JSON.stringify(json));
}

async function readRequest(request: IncomingMessage): Promise<RawRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const url = new URL(request.url ?? '/', 'http://127.0.0.1');
  return {
    method: request.method ?? 'GET',
    path: url.pathname,
    query: Object.fromEntries(url.searchParams),
    headers: Object.fromEntries(
      Object.entries(request.headers).map(([name, value]) => [name, Array.isArray(value) ? value.join() : value]),
    ),
    body: Buffer.concat(chunks),
    receivedAt: Date.now(),
  };
}
