// Writing an answer: one place that sets the headers every answer carries, the length, and what HEAD and a stopping host need.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { problemOf, PROBLEM_TYPE } from './problem.ts';
import { contextOf } from './request-context.ts';
import type { Answer } from './route.ts';
import { API_HEADERS } from './security-headers.ts';

const JSON_TYPE = 'application/json; charset=utf-8';
const LINGER_MS = 1_000;
const LINGER_BYTES = 4 * 1024 * 1024;

/** Sends the whole answer. Headers of the answer win over what every answer carries. */
export function respond(response: ServerResponse, answer: Answer, requestId: string): void {
  const content = contentOf(answer);
  setHeaders(response, API_HEADERS);
  response.setHeader('X-Request-Id', requestId);
  if (content !== undefined) response.setHeader('Content-Type', content.type);
  setHeaders(response, answer.headers ?? {});
  if (answer.status !== 204 && answer.status !== 304) response.setHeader('Content-Length', content?.bytes.length ?? 0);
  response.writeHead(answer.status);
  response.end(content?.bytes);
}

/** Sends the problem that a thrown value stands for; ends the connection when a body was left unread. */
export function respondProblem(request: IncomingMessage, response: ServerResponse, thrown: unknown): void {
  const context = contextOf(request);
  if (response.headersSent || response.destroyed) {
    response.destroy();
    return;
  }
  const { status, headers, text } = problemOf(thrown, context);
  const answer = { status, text, headers: { ...headers, 'Content-Type': PROBLEM_TYPE } };
  if (request.complete || !hasUnreadBody(request)) return respond(response, answer, context.requestId);
  respondThenLinger(request, response, { ...answer, headers: { ...answer.headers, Connection: 'close' } });
}

/**
 * A client that still sends its body reads the answer only if the connection stays until it has: closing at once would
 * reset it. So the answer goes out whole, the rest of the body is thrown away for a moment, then the connection ends.
 */
function respondThenLinger(
  request: IncomingMessage,
  response: ServerResponse,
  answer: Answer & { readonly text: string },
): void {
  const { requestId, awaitsContinue } = contextOf(request);
  if (awaitsContinue || request.method === 'HEAD') return respond(response, answer, requestId);
  const bytes = Buffer.from(answer.text);
  setHeaders(response, API_HEADERS);
  response.setHeader('X-Request-Id', requestId);
  setHeaders(response, answer.headers ?? {});
  response.setHeader('Content-Length', bytes.length);
  response.writeHead(answer.status);
  response.write(bytes);
  let left = LINGER_BYTES;
  const finish = (): void => {
    clearTimeout(timer);
    response.end();
  };
  const timer = setTimeout(finish, LINGER_MS);
  request.on('data', (chunk: Buffer) => {
    left -= chunk.length;
    if (left < 0) response.destroy();
  });
  request.once('end', finish).once('close', finish).once('error', finish);
  request.resume();
}

const hasUnreadBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;

/** Headers for a response that somebody else writes: the event stream. */
export function prepareStream(
  response: ServerResponse,
  headers: Readonly<Record<string, string>>,
  requestId: string,
): void {
  setHeaders(response, API_HEADERS);
  setHeaders(response, headers);
  response.setHeader('X-Request-Id', requestId);
}

function setHeaders(response: ServerResponse, headers: Readonly<Record<string, string | undefined>>): void {
  for (const name in headers) {
    const value = headers[name];
    if (value !== undefined) response.setHeader(name, value);
  }
}

function contentOf({ json, text, bytes }: Answer): { readonly bytes: Buffer; readonly type: string } | undefined {
  if (json !== undefined) return { bytes: Buffer.from(JSON.stringify(json)), type: JSON_TYPE };
  if (text !== undefined) return { bytes: Buffer.from(text), type: 'text/plain; charset=utf-8' };
  return bytes === undefined ? undefined : { bytes, type: 'application/octet-stream' };
}
