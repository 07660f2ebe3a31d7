// Requests of `svc doctor --edge`: bounded in time and size, without redirects. A stream is closed as soon as enough has arrived.
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { SvcError } from '../../../shared/svc-error.ts';
import type { Edge } from './check.ts';

export interface EdgeQuestion {
  readonly path: string;
  readonly method?: string;
  readonly body?: Buffer;
  /** The stream is closed once it contains this text. */
  readonly until?: string;
  /** Default 5 000. */
  readonly timeoutMs?: number;
}

export interface EdgeAnswer {
  /** 0 if no answer came in time. */
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly text: string;
  /** Time ran out before the end, or before the expected text. */
  readonly late: boolean;
}

const MAX_BYTES = 1024 * 1024;
const DEFAULT_MS = 5_000;

/** Throws network errors. A timeout is a normal answer. */
export function ask(
  edge: Edge,
  { path, method = 'GET', body, until, timeoutMs = DEFAULT_MS }: EdgeQuestion,
): Promise<EdgeAnswer> {
  return new Promise((resolve, reject) => {
    let text = '';
    let response: IncomingMessage | undefined;
    const request = send(edge, path, {
      method,
      headers: body === undefined ? {} : { 'content-type': 'application/octet-stream', 'content-length': body.length },
    });
    const end = (late: boolean): void => {
      clearTimeout(timer);
      request.destroy();
      resolve({ status: response?.statusCode ?? 0, headers: flat(response), text, late });
    };
    const timer = setTimeout(() => end(true), timeoutMs);
    request.on('error', (error) => {
      clearTimeout(timer);
      reject(error);
    });
    request.on('response', (answer) => {
      response = answer;
      answer.setEncoding('utf8');
      answer.on('data', (chunk: string) => {
        text += chunk;
        if (text.length > MAX_BYTES || (until !== undefined && text.includes(until))) end(false);
      });
      answer.on('end', () => end(false));
      answer.on('error', () => end(false));
    });
    request.end(body);
  });
}

/** The status of the upgrade request. 101 means a WebSocket, which is closed at once. */
export function openSocket(edge: Edge, path: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const request = send(edge, path, {
      headers: {
        connection: 'Upgrade',
        upgrade: 'websocket',
        'sec-websocket-version': '13',
        'sec-websocket-key': 'c3ZjIGRvY3RvciBlZGdlIQ==',
      },
    });
    const end = (settle: () => void): void => {
      clearTimeout(timer);
      request.destroy();
      settle();
    };
    const timer = setTimeout(() => end(() => reject(new SvcError('timeout', 'no answer in time'))), DEFAULT_MS);
    request.on('upgrade', (_response, socket) => {
      socket.destroy();
      end(() => resolve(101));
    });
    request.on('response', ({ statusCode = 0 }) => end(() => resolve(statusCode)));
    request.on('error', (error) => end(() => reject(error)));
    request.end();
  });
}

function send(
  { url, token }: Edge,
  path: string,
  {
    method = 'GET',
    headers,
  }: { readonly method?: string; readonly headers: Readonly<Record<string, string | number>> },
): ReturnType<typeof httpRequest> {
  const target = new URL(url);
  target.pathname = `${target.pathname.replace(/\/+$/, '')}${path}`;
  const start = target.protocol === 'https:' ? httpsRequest : httpRequest;
  return start(target, { method, agent: false, headers: { ...headers, authorization: `Bearer ${token}` } });
}

const flat = (response: IncomingMessage | undefined): Readonly<Record<string, string | undefined>> =>
  Object.fromEntries(
    Object.entries(response?.headers ?? {}).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.join(', ') : value,
    ]),
  );
