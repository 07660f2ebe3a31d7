// A WebSocket that an implementation of OneBot 11 opens, and opens again after it was lost, as long as it is told to.
import { WebSocket } from 'ws';

export type Role = 'Universal' | 'API' | 'Event';

export interface CallerOptions {
  readonly self: number;
  readonly role: Role;
  readonly token: string;
  /** Default 50. */
  readonly againMs?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** How the handshake was answered: 101, or the status of the refusal. */
  answered(status: number): void;
  opened(socket: WebSocket): void;
}

export class OneBotCaller {
  readonly #url: string;
  readonly #options: CallerOptions;
  #isStopped = false;
  #socket: WebSocket | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(url: string, options: CallerOptions) {
    this.#url = url;
    this.#options = options;
    this.#open();
  }

  get isOpen(): boolean {
    return this.#socket?.readyState === WebSocket.OPEN;
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    this.#socket?.terminate();
  }

  #open(): void {
    const { self, role, token, againMs = 50, headers = {}, answered, opened } = this.#options;
    const asks = { authorization: `Bearer ${token}`, 'x-self-id': String(self), 'x-client-role': role, ...headers };
    const socket = new WebSocket(this.#url, { headers: asks });
    this.#socket = socket;
    socket.on('open', () => {
      answered(101);
      opened(socket);
    });
    socket.on('unexpected-response', (_request, { statusCode = 0 }) => {
      answered(statusCode);
      socket.terminate();
    });
    socket.on('error', () => {});
    socket.on('close', () => {
      if (!this.#isStopped) this.#timer = setTimeout(() => this.#open(), againMs);
    });
  }
}
