// One WebSocket to an implementation. The host provides sockets that the implementation opens (`PlatformSocket`). This file opens the others.
//
//   ONEBOT11-CHANNEL-1  A socket whose peer does not answer a ping within the next `pingMs` is closed.
//   ONEBOT11-CHANNEL-2  A rejected token (401, 403) is reported differently from a failed connection.
import { type ClientOptions, WebSocket } from 'ws';
import type { PlatformSocket } from '../../../sdk/index.ts';

export type Channel = Omit<PlatformSocket, 'request'>;

export type Opening =
  | { readonly kind: 'open'; readonly channel: Channel }
  | { readonly kind: 'refused'; readonly reason: string };

export interface OpenOptions {
  readonly token: string | undefined;
  readonly signal: AbortSignal;
  readonly handshakeMs: number;
  readonly pingMs: number;
}

const MAX_FRAME_BYTES = 64 * 1_048_576;

/** Largest accepted message. An answer may contain a file. */
export const MAX_MESSAGE_BYTES = MAX_FRAME_BYTES;

/** Throws if no connection can be opened now. */
export function openChannel(address: string, { token, signal, handshakeMs, pingMs }: OpenOptions): Promise<Opening> {
  const options: ClientOptions = {
    handshakeTimeout: handshakeMs,
    maxPayload: MAX_FRAME_BYTES,
    perMessageDeflate: false,
    followRedirects: false,
    headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
  };
  const socket = new WebSocket(address, options);
  const cut = (): void => socket.terminate();
  signal.addEventListener('abort', cut, { once: true });
  return new Promise<Opening>((resolve, reject) => {
    socket.once('open', () => resolve({ kind: 'open', channel: new OwnChannel(socket, pingMs) }));
    socket.on('error', (error) => reject(new Error(`no connection to ${new URL(address).host}: ${codeOf(error)}`)));
    socket.once('unexpected-response', (_request, { statusCode = 0 }) => {
      const isRefused = statusCode === 401 || statusCode === 403;
      if (isRefused) resolve({ kind: 'refused', reason: `the connection was answered with ${statusCode}` });
      else reject(new Error(`no connection: the implementation answered ${statusCode}`));
      socket.terminate();
    });
  }).finally(() => signal.removeEventListener('abort', cut));
}

/** Only the code, because the error's message may contain the address, and the address a token. */
const codeOf = (error: Error): string =>
  'code' in error && typeof error.code === 'string' ? error.code : 'network error';

class OwnChannel implements Channel {
  readonly ended: Promise<string>;
  readonly #socket: WebSocket;
  #isAnswered = true;

  constructor(socket: WebSocket, pingMs: number) {
    this.#socket = socket;
    socket.pause(); // until a reader is set, because the first event may arrive with the handshake
    const ping = setInterval(() => this.#watch(), pingMs);
    ping.unref();
    socket.on('pong', () => {
      this.#isAnswered = true;
    });
    this.ended = new Promise((resolve) => {
      socket.once('close', (code) => {
        clearInterval(ping);
        resolve(code === 1006 ? 'the connection was lost' : `the implementation closed the connection (${code})`);
      });
    });
  }

  onMessage(take: (text: string) => void): void {
    this.#socket.on('message', (data) => take(String(data)));
    this.#socket.resume();
  }
  send(text: string): void {
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.send(text);
  }
  pause(): void {
    this.#socket.pause();
  }
  resume(): void {
    this.#isAnswered = true; // the pong may be behind unread data, so a paused socket is not judged
    this.#socket.resume();
  }

  close(code = 1000, reason = ''): void {
    this.#socket.resume();
    this.#socket.close(code, reason);
    const late = setTimeout(() => this.#socket.terminate(), 2_000);
    void this.ended.then(() => clearTimeout(late));
  }

  /** Closes a socket whose peer did not answer the last ping. */
  #watch(): void {
    if (this.#socket.isPaused) return;
    if (!this.#isAnswered) return this.#socket.terminate();
    this.#isAnswered = false;
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.ping();
  }
}
