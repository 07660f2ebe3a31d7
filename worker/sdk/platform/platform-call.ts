// One HTTP call with a response of moderate size, over node:http. Sends use it, because `fetch` costs three times the CPU: it makes streams,
// signals and copies of the request. Streamed responses (files) use `fetch`.
//
//   PLATFORM-CALL-1  A redirect is a response like any other: no token goes to an address that is not configured.
//   PLATFORM-CALL-2  The call resolves once the response is read whole. A response that is too long or broken off is an error, like no response. A
//                    request body is not sent to its end if the response is already complete.
//   PLATFORM-CALL-3  The call ends with its signal, with the signal's reason, and after ten seconds without a connection.
//   PLATFORM-CALL-4  A connection is reused within four seconds, a shorter time than servers keep idle ones. It does not keep the process alive.
//                    Proxies and certificates are those that Node is configured with.
import type { Agent, IncomingMessage, RequestOptions, request } from 'node:http';
import type { Socket } from 'node:net';
import { pipeline } from 'node:stream/promises';

export interface PlatformCall {
  readonly method: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** A stream is read as fast as the connection takes it. */
  readonly body?: string | AsyncIterable<Uint8Array> | undefined;
  readonly signal: AbortSignal;
  /** Longest response body in bytes. Default 32 MiB. */
  readonly mostBytes?: number;
}

/** The members of `Response` that a text response has. */
export interface PlatformAnswer
  extends Pick<Response, 'ok' | 'status' | 'statusText' | 'arrayBuffer' | 'json' | 'text'> {
  readonly headers: Pick<Headers, 'get' | 'has'>;
}

const IDLE_MS = 4_000;
const CONNECT_LIMIT_MS = 10_000;
const MOST_BYTES = 33_554_432;

/** Makes one call. It throws if the outcome is unknown: Node's errors with their `code`, or the reason of the signal. */
export async function callPlatform(address: string | URL, call: PlatformCall): Promise<PlatformAnswer> {
  const url = new URL(address);
  const way = await wayOf(url.protocol === 'https:');
  call.signal.throwIfAborted();
  return new Promise((resolve, reject) => {
    const { method, body, signal, mostBytes = MOST_BYTES } = call;
    const headers = { accept: '*/*', 'accept-encoding': 'identity', 'user-agent': 'svc', ...call.headers };
    const asked = way.request(url, { method, headers, agent: way.agent });
    const abort = (): void => fail(signal.reason);
    const fail = (error: unknown): void => {
      signal.removeEventListener('abort', abort);
      reject(error instanceof Error ? error : new Error('the call was ended', { cause: error }));
      asked.destroy();
    };
    signal.addEventListener('abort', abort, { once: true });
    asked.on('error', fail);
    // A 101 makes no 'response' event. Without this listener the call would never end.
    asked.on('upgrade', (_answer, socket) => {
      socket.destroy();
      fail(withCode('ERR_UPGRADED', 'the answer is another protocol (101)'));
    });
    asked.on('socket', (socket) => limitConnecting(socket, way.opened, fail));
    asked.on('response', (answer) => {
      readWhole(answer, mostBytes).then((bytes) => {
        signal.removeEventListener('abort', abort);
        resolve(answerOf(answer, bytes));
        if (!asked.writableFinished) asked.destroy();
      }, fail);
    });
    if (typeof body === 'object') pipeline(body, asked).catch(fail);
    else asked.end(body);
  });
}

interface Way {
  readonly request: typeof request;
  readonly agent: Agent;
  readonly opened: 'connect' | 'secureConnect';
}
const ways: { plain?: Promise<Way>; secure?: Promise<Way> } = {};

/** TLS is loaded at the first call that needs it. */
function wayOf(isSecure: boolean): Promise<Way> {
  if (isSecure) ways.secure ??= import('node:https').then((module) => makeWay(module, 'secureConnect'));
  else ways.plain ??= import('node:http').then((module) => makeWay(module, 'connect'));
  return (isSecure ? ways.secure : ways.plain) as Promise<Way>;
}

interface Module {
  readonly request: typeof request;
  readonly Agent: new (options: object) => Agent;
  readonly globalAgent: object;
}

function makeWay({ request: open, Agent: Kept, globalAgent }: Module, opened: Way['opened']): Way {
  const given = 'options' in globalAgent ? (globalAgent.options as RequestOptions) : {};
  return { request: open, agent: new Kept({ ...given, keepAlive: true, timeout: IDLE_MS }), opened };
}

/** Fails a call whose connection is not open after CONNECT_LIMIT_MS. */
function limitConnecting(socket: Socket, opened: Way['opened'], fail: (error: unknown) => void): void {
  if (!socket.connecting) return;
  const late = setTimeout(() => {
    fail(withCode('ETIMEDOUT', `no connection in ${CONNECT_LIMIT_MS} ms`));
  }, CONNECT_LIMIT_MS);
  const over = (): void => clearTimeout(late);
  socket.once(opened, over).once('close', over);
}

/** Reads the whole response; rejects if it is longer than `mostBytes` or broken off. */
async function readWhole(answer: IncomingMessage, mostBytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    answer.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= mostBytes) chunks.push(chunk);
      else reject(withCode('ERR_ANSWER_TOO_LARGE', `the answer is over ${mostBytes} bytes`));
    });
    answer.on('end', () => resolve(Buffer.concat(chunks)));
    answer.on('error', reject);
  });
}

const withCode = (code: string, text: string): Error => Object.assign(new Error(text), { code });

const decoder = new TextDecoder();

function answerOf(
  { statusCode: status = 0, statusMessage = '', headers }: IncomingMessage,
  bytes: Buffer,
): PlatformAnswer {
  const text = (): string => decoder.decode(bytes);
  const get = (name: string): string | null => headers[name.toLowerCase()]?.toString() ?? null;
  return {
    status,
    statusText: statusMessage,
    ok: status >= 200 && status < 300,
    headers: { get, has: (name) => get(name) !== null },
    text: async () => text(),
    json: async () => JSON.parse(text()) as unknown,
    arrayBuffer: async () => new Uint8Array(bytes).buffer,
  };
}
