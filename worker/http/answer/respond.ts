// Writes every answer: common headers, the length, and the rules for HEAD and for a stopping host.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { wellFormed } from '../../../shared/log/well-formed.ts';
import { contextOf } from '../request/request-context.ts';
import type { Answer } from '../routes/route.ts';
import { closeLingering } from '../server/lingering-close.ts';
import { PROBLEM_TYPE, problemOf } from './problem.ts';
import { API_HEADERS } from './security-headers.ts';

const JSON_TYPE = 'application/json; charset=utf-8';

/** Sends the whole answer. Headers of the answer override the common ones. */
export function respond(response: ServerResponse, answer: Answer, requestId: string): void {
  const content = contentOf(answer);
  const headers: Record<string, string | number> = { 'X-Request-Id': requestId, ...API_HEADERS };
  if (content !== undefined) headers['Content-Type'] = content.type;
  addHeaders(headers, answer.headers);
  if (answer.status !== 204 && answer.status !== 304) headers['Content-Length'] = content?.length ?? 0;
  response.writeHead(answer.status, headers);
  // Node writes a string together with the headers in one packet, a buffer separately.
  response.end(content?.data);
}

/** Sends the problem document for a thrown value. Ends the connection if a body is left unread. */
export function respondProblem(request: IncomingMessage, response: ServerResponse, thrown: unknown): void {
  const context = contextOf(request);
  if (response.headersSent || response.destroyed) {
    response.destroy();
    return;
  }
  const { status, headers, text } = problemOf(thrown, context);
  response.statusMessage = ''; // may be left from an answer that could not be sent
  const answer = { status, text, headers: { ...headers, 'Content-Type': PROBLEM_TYPE } };
  if (request.complete || !hasUnreadBody(request)) return respond(response, answer, context.requestId);
  respondThenLinger(request, response, { ...answer, headers: { ...answer.headers, Connection: 'close' } });
}

/** Keeps the connection open for a while, so that a client that still sends its body can read the answer. */
function respondThenLinger(
  request: IncomingMessage,
  response: ServerResponse,
  answer: Answer & { readonly text: string },
): void {
  const context = contextOf(request);
  setHeaders(response, API_HEADERS);
  response.setHeader('X-Request-Id', context.requestId);
  setHeaders(response, answer.headers ?? {});
  response.setHeader('Content-Length', Buffer.byteLength(answer.text));
  response.writeHead(answer.status);
  if (request.method === 'HEAD') response.flushHeaders();
  else response.write(answer.text);
  context.takenAt = performance.now();
  closeLingering(request, response);
}

const hasUnreadBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;

/** Sets the common headers on a response that its handler writes, such as the event stream. */
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

/** Header names are case-insensitive. A header of a route or a plugin replaces ours, whatever its case. */
function addHeaders(headers: Record<string, string | number>, more: Answer['headers']): void {
  if (more === undefined) return;
  for (const name in more) {
    const value = more[name];
    if (value === undefined) continue;
    const other = headers[name] === undefined ? sameName(headers, name) : undefined;
    if (other !== undefined) delete headers[other];
    headers[name] = value;
  }
}

const sameName = (headers: Readonly<Record<string, unknown>>, name: string): string | undefined =>
  Object.keys(headers).find((known) => known.toLowerCase() === name.toLowerCase());

interface Content {
  readonly data: string | Buffer;
  readonly length: number;
  readonly type: string;
}

function contentOf({ json, text, bytes }: Answer): Content | undefined {
  if (bytes !== undefined) return { data: bytes, length: bytes.length, type: 'application/octet-stream' };
  const data = json === undefined ? text : jsonText(json);
  if (data === undefined) return undefined;
  return { data, length: Buffer.byteLength(data), type: json === undefined ? 'text/plain; charset=utf-8' : JSON_TYPE };
}

/** Half characters become U+FFFD: strict readers refuse their escapes. */
function jsonText(json: unknown): string {
  const text = JSON.stringify(json);
  return HALF_ESCAPE.test(text) ? JSON.stringify(wellFormed(json)) : text;
}

/** `JSON.stringify` escapes nothing else this way. */
const HALF_ESCAPE = /\\ud[89a-f]/;
