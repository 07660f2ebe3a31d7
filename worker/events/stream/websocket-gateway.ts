// The event stream over WebSocket: the frames of SSE as JSON messages, and calls of the console.
//
//   WEBSOCKET-1  Input of a client is bounded: 256 KiB a message, 64 fragments, 100 calls and pings in 10 s. Excess closes the connection
//                with 1009 or 1008.
//   WEBSOCKET-2  A stream begins with the parameters of the URL (`lastEventId`, `types`, `endpoints`, `gap`). The header Last-Event-ID
//                overrides the parameter. A `resume` call replaces the stream; frames of the new one follow its `svc.hello`.
//   WEBSOCKET-3  Close codes: 1012 for a drain, 1008 for a removed token, 1013 for a client that does not read.
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { RawData, WebSocket, WebSocketServer } from 'ws';
import type { WebSocketCall } from '../../../shared/api/event.ts';
import { coerceError, SvcError } from '../../../shared/svc-error.ts';
import type { Clock, Timer } from '../../../shared/time/clock.ts';
import type { Caller } from '../../http/api/caller.ts';
import type { StreamRequest } from '../../http/api/events-api.ts';
import type { EventHub } from '../event-hub.ts';
import { compileFilter } from '../filter.ts';
import { resumeOrThrow } from './sse-gateway.ts';
import type { EndReason, StreamClient, Transport } from './stream-client.ts';

export const SUBPROTOCOL = 'svc.v1';
const MAX_MESSAGE_BYTES = 256 * 1024;
const MAX_FRAGMENTS = 64;
const CALLS_PER_WINDOW = 100;
const CALL_WINDOW_MS = 10_000;
const CLOSE_CODES: Readonly<Record<EndReason, number>> = {
  drain: 1012,
  revoked: 1008,
  slow: 1013,
  failed: 1011,
  replaced: 1000,
};
/** How long a close frame waits for its answer. */
const FORCED_CLOSE = { closeTimeout: 2_000 } as const;

/** An authenticated upgrade request, with the arguments of node:http. */
type Handshake = [request: IncomingMessage, socket: Duplex, head: Buffer, caller: Caller];

export interface WebSocketGateway {
  upgrade(...handshake: Handshake): Promise<void>;
  /** Resolves when every connection is closed, by force if the client does not answer. */
  drain(): Promise<void>;
}

export interface WebSocketOptions {
  readonly pingMs: number;
}

type Subscribe = Pick<StreamRequest, 'lastEventId' | 'types' | 'endpoints' | 'gap'>;

export function createWebSocketGateway(hub: EventHub, clock: Clock, { pingMs }: WebSocketOptions): WebSocketGateway {
  let server: Promise<WebSocketServer> | undefined;
  const open = new Set<Connection>();
  return {
    async upgrade(...[request, socket, head, caller]) {
      const start = parametersOf(request);
      compileFilter(start.types, start.endpoints); // a wrong filter is refused before the handshake
      resumeOrThrow(hub, start);
      server ??= makeServer(); // made at the first upgrade, to keep it out of the start
      (await server).handleUpgrade(request, socket, head, (webSocket) => {
        const connection = new Connection(webSocket, socket, { hub, clock, caller, pingMs });
        open.add(connection);
        webSocket.on('close', () => open.delete(connection));
        connection.subscribe(start);
      });
    },
    async drain() {
      await Promise.all([...open].map((connection) => connection.closed));
    },
  };
}

async function makeServer(): Promise<WebSocketServer> {
  const { WebSocketServer } = await import('ws');
  return new WebSocketServer({
    noServer: true,
    clientTracking: false,
    maxPayload: MAX_MESSAGE_BYTES,
    maxFragments: MAX_FRAGMENTS,
    perMessageDeflate: false,
    autoPong: false,
    ...FORCED_CLOSE,
    handleProtocols: (offered) => (offered.has(SUBPROTOCOL) ? SUBPROTOCOL : false),
  });
}

interface ConnectionDeps {
  readonly hub: EventHub;
  readonly clock: Clock;
  readonly caller: Caller;
  readonly pingMs: number;
}

class Connection {
  readonly closed: Promise<void>;
  readonly #webSocket: WebSocket;
  readonly #socket: Duplex;
  readonly #deps: ConnectionDeps;
  #client: StreamClient | undefined;
  #ping: Timer | undefined;
  #answered = true;
  #calls = 0;
  #windowStart: number;

  constructor(webSocket: WebSocket, socket: Duplex, deps: ConnectionDeps) {
    this.#webSocket = webSocket;
    this.#socket = socket;
    this.#deps = deps;
    this.#windowStart = deps.clock.monotonic();
    this.closed = new Promise((resolve) => webSocket.once('close', () => resolve()));
    webSocket.on('message', (data, isBinary) => this.#onMessage(data, isBinary));
    webSocket.on('ping', (data) => this.#onPing(data));
    webSocket.on('pong', () => {
      this.#answered = true;
    });
    webSocket.on('error', () => {}); // a malformed frame: ws has sent the close code, and 'close' follows
    webSocket.on('close', () => this.#onClose());
    socket.on('drain', () => this.#client?.drained());
    this.#schedulePing();
  }

  /** Replaces the current stream. Throws `draining`, `history_expired` or `invalid_request`. */
  subscribe(start: Subscribe): void {
    const { hub, caller } = this.#deps;
    const filter = compileFilter(start.types, start.endpoints);
    const resume = resumeOrThrow(hub, start);
    if (this.#client !== undefined) hub.leave(this.#client);
    this.#client = hub.subscribe({
      wire: 'ws',
      scope: caller.scope,
      actor: caller.actor,
      filter,
      resume,
      transport: this.#transport(),
    });
  }

  #transport(): Transport {
    return {
      write: (parts) => {
        this.#socket.cork();
        for (const part of parts) this.#webSocket.send(part, { binary: false });
        this.#socket.uncork();
      },
      queuedBytes: () => (this.#socket.writableNeedDrain ? this.#socket.writableLength : 0),
      end: (reason) => this.#end(reason),
    };
  }

  #end(reason: EndReason): void {
    this.#webSocket.close(CLOSE_CODES[reason], reason);
    if (reason === 'slow') this.#webSocket.terminate(); // a client that reads nothing does not read a close frame
  }

  #onMessage(data: RawData, isBinary: boolean): void {
    if (!this.#withinRate()) return;
    if (isBinary) return this.#webSocket.close(1003, 'text messages only');
    const fields = parseFields(textOf(data));
    const call = callOf(fields);
    if (call === undefined)
      return this.#answer({
        kind: 'error',
        call: isCallId(fields['call']) ? fields['call'] : undefined,
        code: 'invalid_request',
        message: 'expected {"kind":"resume"} or {"kind":"ping"}, and texts in all other fields',
      });
    if (call.kind === 'ping')
      return this.#answer({ kind: 'pong', call: call.call, time: new Date(this.#deps.clock.now()).toISOString() });
    try {
      this.subscribe({
        lastEventId: call.lastEventId,
        types: call.types,
        endpoints: call.endpoints,
        gap: call.gap ?? 'oldest',
      });
    } catch (error) {
      const { code, message, details } = coerceError(error);
      this.#answer({
        kind: 'error',
        call: call.call,
        code,
        message: error instanceof SvcError ? message : 'the call failed',
        details,
      });
    }
  }

  #onPing(data: Buffer): void {
    if (this.#withinRate() && !this.#socket.writableNeedDrain) this.#webSocket.pong(data);
  }

  #answer(answer: object): void {
    this.#webSocket.send(JSON.stringify(answer));
  }

  #withinRate(): boolean {
    const now = this.#deps.clock.monotonic();
    if (now - this.#windowStart >= CALL_WINDOW_MS) [this.#windowStart, this.#calls] = [now, 0];
    this.#calls += 1;
    if (this.#calls <= CALLS_PER_WINDOW) return true;
    this.#webSocket.close(1008, 'too many calls');
    return false;
  }

  #schedulePing(): void {
    this.#ping = this.#deps.clock.after(this.#deps.pingMs, () => {
      if (!this.#answered) return this.#webSocket.terminate();
      this.#answered = false;
      if (this.#webSocket.readyState === this.#webSocket.OPEN) this.#webSocket.ping();
      this.#schedulePing();
    });
  }

  #onClose(): void {
    this.#ping?.cancel();
    if (this.#client !== undefined) this.#deps.hub.leave(this.#client);
    this.#client = undefined;
  }
}

function parametersOf(request: IncomingMessage): Subscribe {
  const target = request.url ?? '';
  const header = request.headers['last-event-id'];
  const query = new URLSearchParams(target.slice(target.indexOf('?') + 1 || target.length));
  const gap = query.get('gap');
  return {
    lastEventId: (Array.isArray(header) ? header[0] : header) || (query.get('lastEventId') ?? undefined),
    types: query.get('types') ?? undefined,
    endpoints: query.get('endpoints') ?? undefined,
    gap: gap === 'head' || gap === 'fail' ? gap : 'oldest',
  };
}

const GAP_WORDS: ReadonlySet<unknown> = new Set(['oldest', 'head', 'fail']);
const TEXT_FIELDS = ['call', 'lastEventId', 'types', 'endpoints'] as const;

/** A numeric `call` is invalid, but the error still names it, so that the client knows which call failed. */
const isCallId = (call: unknown): boolean => typeof call === 'string' || typeof call === 'number';

type Fields = Readonly<Record<string, unknown>>;

/** The call in a message. Undefined if the message is not a call. */
function callOf(fields: Fields): WebSocketCall | undefined {
  if (TEXT_FIELDS.some((name) => fields[name] !== undefined && typeof fields[name] !== 'string')) return undefined;
  if (fields['gap'] !== undefined && !GAP_WORDS.has(fields['gap'])) return undefined;
  return fields['kind'] === 'resume' || fields['kind'] === 'ping' ? (fields as unknown as WebSocketCall) : undefined;
}

/** The text of a message, which ws delivers as one buffer or several. */
function textOf(data: RawData): string {
  if (Array.isArray(data)) return Buffer.concat(data).toString();
  return Buffer.isBuffer(data) ? data.toString() : Buffer.from(data).toString();
}

/** The fields of a message; none if it is not a JSON object. */
function parseFields(text: string): Fields {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {};
  } catch {
    return {};
  }
}
