// WebSockets that platforms open to accounts at their webhook addresses. The request is verified by the platform's rule before the upgrade.
//
//   WEBHOOK-SOCKETS-1  A wrong token gets 401, an identity that is not the account's gets 403, both as over HTTP. They are counted and answered
//                      without detail.
//   WEBHOOK-SOCKETS-2  A peer that does not answer a ping within PING_MS is disconnected. Platforms reconnect, and a dead socket must not pass for a
//                      live one.
//   WEBHOOK-SOCKETS-3  Nothing is read before the account's connection asks for it. No message is larger than its adapter allows.
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { RawData, WebSocket, WebSocketServer } from 'ws';
import { SvcError } from '../../shared/svc-error.ts';
import type { PlatformSockets, RawDelivery } from '../http/api/delivery-api.ts';
import type { PlatformSocket, RawRequest } from '../sdk/index.ts';
import type { WebhookSocketTarget } from './webhooks.ts';

export interface WebhookSocketsDeps {
  /** Undefined if nothing at this path takes a WebSocket. */
  readonly find: (path: string) => WebhookSocketTarget | undefined;
  /** Default 30 000. */
  readonly pingMs?: number;
}

const MAX_MESSAGE_BYTES = 1_048_576;
const MAX_FRAGMENTS = 1_024;
const PING_MS = 30_000;
const CLOSE_LIMIT = { closeTimeout: 2_000 } as const;

export function createWebhookSockets({ find, pingMs = PING_MS }: WebhookSocketsDeps): PlatformSockets {
  const servers = new Map<number, Promise<WebSocketServer>>();
  const open = new Set<WebSocket>();
  const serverFor = (maxPayload: number): Promise<WebSocketServer> => {
    const known = servers.get(maxPayload);
    if (known !== undefined) return known;
    const made = makeServer(maxPayload);
    servers.set(maxPayload, made);
    return made;
  };
  return {
    takes: (path) => find(path) !== undefined,
    get count() {
      return open.size;
    },
    open(delivery: RawDelivery) {
      const target = find(delivery.path);
      if (target === undefined) throw new SvcError('not_found', 'no webhook at this path');
      const request: RawRequest = { ...delivery, path: `/webhooks/${delivery.path}` };
      target.verify(request);
      return async (handshake: IncomingMessage, socket: Duplex, head: Buffer) => {
        const server = await serverFor(target.maxBytes ?? MAX_MESSAGE_BYTES);
        server.handleUpgrade(handshake, socket, head, (webSocket) => {
          open.add(webSocket);
          webSocket.once('close', () => open.delete(webSocket));
          target.accept(new Opened(webSocket, request, pingMs));
        });
      };
    },
  };
}

/** Loaded by the first upgrade, to keep it out of the start. */
async function makeServer(maxPayload: number): Promise<WebSocketServer> {
  const { WebSocketServer } = await import('ws');
  return new WebSocketServer({
    noServer: true,
    clientTracking: false,
    maxPayload,
    maxFragments: MAX_FRAGMENTS,
    perMessageDeflate: false,
    ...CLOSE_LIMIT,
  });
}

class Opened implements PlatformSocket {
  readonly request: RawRequest;
  readonly ended: Promise<string>;
  readonly #webSocket: WebSocket;
  readonly #pingMs: number;
  #ping: ReturnType<typeof setInterval> | undefined;
  #isAnswered = true;

  constructor(webSocket: WebSocket, request: RawRequest, pingMs: number) {
    this.#webSocket = webSocket;
    this.request = request;
    this.#pingMs = pingMs;
    webSocket.pause(); // read nothing before the account's connection asks
    webSocket.on('error', () => {}); // a broken frame: ws has sent its close code, and 'close' follows
    this.ended = new Promise((resolve) => {
      webSocket.once('close', (code) => {
        clearInterval(this.#ping);
        resolve(code === 1006 ? 'the connection was lost' : `the platform closed the connection (${code})`);
      });
    });
  }

  onMessage(take: (text: string) => void): void {
    this.#webSocket.on('message', (data) => take(textOf(data)));
    this.#webSocket.on('pong', () => {
      this.#isAnswered = true;
    });
    this.#ping ??= setInterval(() => this.#watch(), this.#pingMs);
    this.#ping.unref();
    this.#webSocket.resume();
  }

  send(text: string): void {
    if (this.#webSocket.readyState === this.#webSocket.OPEN) this.#webSocket.send(text);
  }
  pause(): void {
    this.#webSocket.pause();
  }
  resume(): void {
    this.#isAnswered = true; // the pong may be behind unread data
    this.#webSocket.resume();
  }

  close(code = 1000, reason = ''): void {
    this.#webSocket.resume(); // the answer to the close frame has to be read
    this.#webSocket.close(code, reason);
  }

  /** Disconnects a peer that has not answered the last ping. A paused socket is skipped, because its pongs are not read. */
  #watch(): void {
    if (this.#webSocket.isPaused) return;
    if (!this.#isAnswered) return this.#webSocket.terminate();
    this.#isAnswered = false;
    if (this.#webSocket.readyState === this.#webSocket.OPEN) this.#webSocket.ping();
  }
}

function textOf(data: RawData): string {
  if (Array.isArray(data)) return Buffer.concat(data).toString();
  return Buffer.isBuffer(data) ? data.toString() : Buffer.from(data).toString();
}
