// Bytes that are no request: Node's parser has given up, so the answer is written to the socket itself, once, and the
// connection ends. Nothing is written where an answer is already on its way.
import { randomUUID } from 'node:crypto';
import { type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { ERRORS, type ErrorCode } from '../../shared/error-codes.ts';
import { bareProblem, PROBLEM_TYPE } from './problem.ts';
import { API_HEADERS } from './security-headers.ts';

/** Time for the client to read the answer before the connection is ended for good. */
const LINGER_MS = 500;

/** Answers parser errors, slow requests and CONNECT on this server. */
export class ConnectionFaults {
  readonly #current = new WeakMap<Duplex, ServerResponse>();

  constructor(server: Server) {
    server.on('clientError', (error: NodeJS.ErrnoException, socket) => this.#refuse(socket, codeOf(error)));
    server.on('connect', (_request, socket) => this.#refuse(socket, 'method_not_allowed'));
  }

  /** The response that a socket is on, so that no second one is written into it. */
  begin(socket: Duplex, response: ServerResponse): void {
    this.#current.set(socket, response);
  }

  #refuse(socket: Duplex, code: ErrorCode): void {
    const current = this.#current.get(socket);
    socket.on('error', () => {}); // it is ended here, and without a listener an error would end the process
    const isMidAnswer = current !== undefined && current.headersSent && !current.writableFinished;
    if (!socket.writable || isMidAnswer) {
      socket.destroy();
      return;
    }
    socket.end(answerText(code));
    setTimeout(() => socket.destroy(), LINGER_MS).unref();
  }
}

function codeOf({ code }: NodeJS.ErrnoException): ErrorCode {
  if (code === 'HPE_HEADER_OVERFLOW') return 'headers_too_large';
  if (code === 'HPE_CHUNK_EXTENSIONS_OVERFLOW') return 'body_too_large';
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return 'request_timeout';
  return 'invalid_request';
}

function answerText(code: ErrorCode): string {
  const { status } = ERRORS[code];
  const requestId = randomUUID();
  const body = bareProblem(code, requestId);
  const headers: Readonly<Record<string, string>> = {
    ...API_HEADERS,
    'X-Request-Id': requestId,
    'Content-Type': PROBLEM_TYPE,
    'Content-Length': String(Buffer.byteLength(body)),
    ...(code === 'method_not_allowed' ? { Allow: 'GET, HEAD, POST, PUT, DELETE, OPTIONS' } : {}),
    Connection: 'close',
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`;
}
