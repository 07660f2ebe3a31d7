// A client of the edge over TLS: sends the target as it is written, from an address of its own, on a connection of its own.

import type { IncomingMessage } from 'node:http';
import { request as httpRequest } from 'node:http';
import { connect as connectHttp2 } from 'node:http2';
import { request as httpsRequest } from 'node:https';
import { connect } from 'node:net';

export interface EdgeAddress {
  readonly port: number;
  /** Undefined: no TLS. */
  readonly ca?: string;
}

export interface EdgeCall {
  readonly path: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Buffer | string;
  /** Announces so many bytes, and sends none. */
  readonly announces?: number;
  /** Any of 127.0.0.0/8. */
  readonly from?: string;
  /** The stream is read until it says so, and then closed. */
  readonly until?: (text: string) => boolean;
}

export interface EdgeReply {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly text: string;
}

/** Rejects where the connection is refused or cut. */
export function call({ port, ca }: EdgeAddress, asked: EdgeCall): Promise<EdgeReply> {
  const { path, method = 'GET', body, announces, from, until } = asked;
  return new Promise((resolve, reject) => {
    const isChunked = asked.headers?.['transfer-encoding'] !== undefined;
    const length = announces ?? (body === undefined || isChunked ? undefined : Buffer.byteLength(body));
    const headers = {
      host: `localhost:${port}`,
      ...asked.headers,
      ...(length === undefined ? {} : { 'content-length': String(length) }),
    };
    const options = {
      host: '127.0.0.1',
      port,
      path,
      method,
      headers,
      agent: false,
      ...(from === undefined ? {} : { localAddress: from }),
    } as const;
    const request = ca === undefined ? httpRequest(options) : httpsRequest({ ...options, ca, servername: 'localhost' });
    request.on('error', reject);
    request.on('response', (response) => {
      let text = '';
      const end = (): void => {
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text });
        request.destroy();
      };
      response.setEncoding('utf8').on('data', (piece: string) => {
        text += piece;
        if (until?.(text) === true) end();
      });
      response.on('end', end).on('error', reject);
    });
    if (announces === undefined) request.end(body);
    else request.flushHeaders();
  });
}

/** The same over HTTP/2: what a stream shows until it says so. */
export function callHttp2(
  { port, ca }: EdgeAddress,
  { path, headers = {}, until = () => false }: EdgeCall,
): Promise<{ readonly status: number; readonly text: string }> {
  return new Promise((resolve, reject) => {
    const session = connectHttp2(`https://localhost:${port}`, {
      ...(ca === undefined ? {} : { ca }),
      lookup: (_name, _options, answer) => answer(null, [{ address: '127.0.0.1', family: 4 }]),
    });
    session.on('error', reject);
    const stream = session.request({ ':path': path, ...headers });
    let [status, text] = [0, ''];
    const end = (): void => {
      resolve({ status, text });
      session.destroy();
    };
    stream.on('response', (answer) => {
      status = Number(answer[':status']);
    });
    stream.setEncoding('utf8').on('data', (piece: string) => {
      text += piece;
      if (until(text)) end();
    });
    stream.on('end', end).on('error', reject);
  });
}

/** Whether somebody listens on that port of the loopback address. */
export function connects(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' });
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
