// Answers bytes that are no HTTP request. Node's parser has given up by then, so the answer is written to the socket itself. The answer is
// written once, and the connection ends.
//
//   FAULT-1  Complete requests that came before the fault are answered first. The effects of these requests are done, and a client counts
//            answers.
//   FAULT-2  Nothing is written into an unfinished answer (a stream, a file). The connection is destroyed instead.
//   FAULT-3  An upgrade waits for the answers to earlier requests, because the bytes after a switch are no HTTP.
//   FAULT-4  Each fault is counted once, with the status that was sent. If a request had begun, its end counts it.
import { randomUUID } from 'node:crypto';
import { type Server, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { ERRORS, type ErrorCode } from '../../../shared/error-codes.ts';
import { bareProblem, PROBLEM_TYPE } from '../answer/problem.ts';
import { API_HEADERS } from '../answer/security-headers.ts';
import { contextOf } from '../request/request-context.ts';
import { isClosing, passOver } from './lingering-close.ts';
import type { OpenAnswers } from './open-answers.ts';

/** Time for the client to read the answer before the socket is destroyed. */
const LINGER_MS = 500;

export interface ConnectionFaultsParts {
  readonly open: OpenAnswers;
  refused(status: number, socket: Duplex): void;
  /** Runs `run` in a later turn of this connection. */
  later(run: () => void, socket: Duplex): void;
}

/** Answers parser errors, slow requests and CONNECT on this server. */
export class ConnectionFaults {
  readonly #open: OpenAnswers;
  readonly #waiting = new WeakSet<Duplex>();
  readonly #refused: ConnectionFaultsParts['refused'];
  readonly #later: ConnectionFaultsParts['later'];

  constructor(server: Server, { open, refused, later }: ConnectionFaultsParts) {
    this.#open = open;
    this.#refused = refused;
    this.#later = later;
    server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
      const code = codeOf(error);
      if (code === 'request_timeout') this.#refuseLater(socket, error);
      else this.#refuse(socket, code, error);
    });
    server.on('connect', (_request, socket) => this.#refuse(socket, 'method_not_allowed'));
  }

  /** Resolves when the answers to earlier requests are over, because an upgrade has to wait for them. Undefined if there are none. */
  earlierAnswers(socket: Duplex): Promise<void> | undefined {
    const last = this.#open.on(socket).at(-1);
    if (last === undefined) return undefined;
    // Node has detached the parser from the socket and no longer forwards `drain` to a streamed answer. We forward it.
    const tell = (): void => {
      for (const response of this.#open.on(socket)) if (response.socket !== null) response.emit('drain');
    };
    socket.on('drain', tell);
    return new Promise((resolve) =>
      last.once('close', () => {
        socket.off('drain', tell);
        resolve();
      }),
    );
  }

  /** Node reports all late requests at once. Answering thousands of them in one turn would block the event loop. */
  #refuseLater(socket: Duplex, error: NodeJS.ErrnoException): void {
    const before = this.#open.count(socket);
    this.#later(() => {
      const cameAfterAll = this.#open.count(socket) > before;
      if (!cameAfterAll && !socket.destroyed) this.#refuse(socket, 'request_timeout', error);
    }, socket);
  }

  #refuse(socket: Duplex, code: ErrorCode, error?: NodeJS.ErrnoException): void {
    socket.on('error', () => {}); // without a listener, an error of the socket would end the process
    if (isClosing(socket)) return passOver(socket);
    if (this.#waiting.has(socket)) return;
    const earlier = this.#open.on(socket).findLast(({ req }) => req.complete);
    const answer = (): void => this.#answer(socket, code, error);
    if (earlier === undefined || this.#isMidAnswer(socket)) return answer();
    this.#waiting.add(socket);
    earlier.once('close', answer);
  }

  #answer(socket: Duplex, code: ErrorCode, error: NodeJS.ErrnoException | undefined): void {
    if (!socket.writable || this.#isMidAnswer(socket)) {
      socket.destroy();
      return;
    }
    const { status } = ERRORS[code];
    const begun = this.#open.on(socket);
    if (begun.length === 0) this.#refused(status, socket); // an answer that has begun is counted at its end
    const isCutOff = error?.code === 'HPE_INVALID_EOF_STATE'; // a client that ends in the middle rarely reads an answer
    for (const { req } of begun) if (!isCutOff) contextOf(req).faultStatus = status;
    socket.end(answerText(code));
    setTimeout(() => socket.destroy(), LINGER_MS).unref();
  }

  /** An answer has begun and is not finished, so another one must not be written into it. */
  #isMidAnswer(socket: Duplex): boolean {
    return this.#open.on(socket).some((response) => response.headersSent && !response.writableEnded);
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
