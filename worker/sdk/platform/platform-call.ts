// One HTTP call whose answer is of moderate size, over node:http: the way of what is sent. `fetch` makes streams, signals and copies of the request
// around the same bytes, at three times the processor time. Answers that are streamed (files) come through `fetch`.
//
//   H1  A redirect is an answer like any other: no token goes to an address that nobody configured.
//   H2  The answer is given once it is read whole; one that is too long or is broken off is an error, as if there were none. A body of which
//       it needs no more is not sent to its end.
//   H3  It ends with its signal, for the signal's reason, and after ten seconds in which nobody took the connection.
//   H4  A connection is used again within four seconds, less than servers keep theirs, and holds no process up meanwhile. Proxies and
//       certificates are those that Node was told of.
import type { Agent, IncomingMessage, RequestOptions, request } from 'node:http';
import type { Socket } from 'node:net';
import { pipeline } from 'node:stream/promises';

export interface PlatformCall {
  readonly method: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** What is no text is read as fast as it is taken. */
  readonly body?: string | AsyncIterable<Uint8Array> | undefined;
  readonly signal: AbortSignal;
  /** Longest answer that is read. Default 32 MiB. */
  readonly mostBytes?: number;
}

/** The parts of a `Response` that an answer of text has. */
export interface PlatformAnswer
  extends Pick<Response, 'ok' | 'status' | 'statusText' | 'arrayBuffer' | 'json' | 'text'> {
  readonly headers: Pick<Headers, 'get' | 'has'>;
}

const IDLE_MS = 4_000;
const CONNECT_LIMIT_MS = 10_000;
const MOST_BYTES = 33_554_432;

/** One call. Throws where nobody knows what came of it: errors of Node with their `code`, or the reason of the signal. */
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
    // No answer, and without a listener no end either.
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

/** H4. TLS is loaded at the first call that needs it. */
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

/** H3. */
function limitConnecting(socket: Socket, opened: Way['opened'], fail: (error: unknown) => void): void {
  if (!socket.connecting) return;
  const late = setTimeout(() => {
    fail(withCode('ETIMEDOUT', `no connection in ${CONNECT_LIMIT_MS} ms`));
  }, CONNECT_LIMIT_MS);
  const over = (): void => clearTimeout(late);
  socket.once(opened, over).once('close', over);
}

/** H2. */
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
