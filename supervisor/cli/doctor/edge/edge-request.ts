// Requests of `svc doctor --edge`: bounded in time and size, without redirects. A stream is closed as soon as enough has arrived.
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { SvcError } from '../../../../shared/svc-error.ts';
import type { Edge } from '../check.ts';

export interface EdgeQuestion {
  /** With its query. */
  readonly path: string;
  readonly method?: string;
  readonly body?: Buffer;
  /** Besides those of every request. */
  readonly headers?: Readonly<Record<string, string | number>>;
  /** The stream is closed once it contains this text. */
  readonly until?: string;
  /** Default 5 000. */
  readonly timeoutMs?: number;
  /** Sends no body, and announces one of so many bytes. The answer is 100 where the body is asked for. */
  readonly announces?: number;
}

export interface EdgeAnswer {
  /** 0 if no answer came in time. */
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly text: string;
  /** Address of this machine on the connection; empty if there was none. */
  readonly localAddress: string;
  /** Time ran out before the end, or before the expected text. */
  readonly late: boolean;
}

const MAX_BYTES = 1024 * 1024;
const DEFAULT_MS = 5_000;

/** Throws network errors. A timeout is a normal answer. */
export function ask(
  edge: Edge,
  { path, method = 'GET', body, headers = {}, until, timeoutMs = DEFAULT_MS, announces }: EdgeQuestion,
): Promise<EdgeAnswer> {
  return new Promise((resolve, reject) => {
    let text = '';
    let response: IncomingMessage | undefined;
    let localAddress = '';
    const length = announces ?? body?.length;
    const request = send(edge, path, {
      method,
      headers: {
        ...headers,
        ...(length === undefined ? {} : { 'content-type': 'application/octet-stream', 'content-length': length }),
        ...(announces === undefined ? {} : { expect: '100-continue' }),
      },
    });
    const end = (late: boolean, status = response?.statusCode ?? 0): void => {
      clearTimeout(timer);
      request.destroy();
      resolve({ status, headers: flat(response), text, localAddress, late });
    };
    const timer = setTimeout(() => end(true), timeoutMs);
    request.on('error', (error) => {
      clearTimeout(timer);
      reject(error);
    });
    request.on('socket', (socket) =>
      socket.once('connect', () => {
        localAddress = socket.localAddress ?? '';
      }),
    );
    request.on('continue', () => end(false, 100));
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
    if (announces === undefined) request.end(body);
    else request.flushHeaders();
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
  const [pathname = '', query = ''] = path.split('?');
  target.pathname = `${target.pathname.replace(/\/+$/, '')}${pathname}`;
  target.search = query;
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
