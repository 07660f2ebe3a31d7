// A server on 127.0.0.1 for as long as a test runs: what an adapter or a plugin calls instead of the real platform.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { HttpAnswer, RawRequest } from '../request.ts';

/** Who ends the server: the context of a `node:test` test. */
export interface TestOwner {
  after(close: () => void): void;
}

/** Starts the server on a free port and resolves to its address, `http://127.0.0.1:<port>`. An answer that throws is a 500. */
export async function loopback(owner: TestOwner, answer: (request: RawRequest) => HttpAnswer): Promise<string> {
  const server = createServer((request, response) => {
    respond(request, response, answer).catch((error: unknown) => response.writeHead(500).end(String(error)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  owner.after(() => {
    server.close();
    server.closeAllConnections();
  });
  const address = server.address();
  return `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`;
}

async function respond(
  request: IncomingMessage,
  response: ServerResponse,
  answer: (request: RawRequest) => HttpAnswer,
): Promise<void> {
  const { status = 200, headers = {}, json, text } = answer(await readRequest(request));
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
