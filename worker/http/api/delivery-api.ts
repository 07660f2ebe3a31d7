// Requests for code of plugins and adapters: webhooks, WebSockets opened by platforms, routes of plugins.
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Scope } from './caller.ts';

export interface RawDelivery {
  readonly method: string;
  /** Below `/webhooks/`: `<slot>`, `<slot>/<id>` or `<slot>/<name>`. */
  readonly path: string;
  readonly query: Readonly<Record<string, string | undefined>>;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: Uint8Array;
  readonly receivedAt: number;
}

export interface HttpReply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string | undefined>>;
  /** At most one of `json` and `text`. */
  readonly json?: unknown;
  readonly text?: string;
}

/** WebSockets that platforms open to the host, at the addresses of their webhooks. */
export interface PlatformSockets {
  /** True if the account at this path accepts a WebSocket. */
  takes(path: string): boolean;
  /** Verifies the request before the switch and returns the function that completes the handshake. Throws SvcError. */
  open(delivery: RawDelivery): (request: IncomingMessage, socket: Duplex, head: Buffer) => Promise<void>;
  /** Open WebSockets. WebSockets end with their accounts, not with the HTTP interface. */
  readonly count: number;
}

export interface DeliveryApi {
  /** Maximum size in bytes of a delivery to this path. Undefined if the path has no webhook. */
  limit(path: string): number | undefined;
  /** The handler of a GET at this path, by which a platform verifies the address. Undefined if there is none. */
  challenge(path: string): ((delivery: RawDelivery) => HttpReply) | undefined;
  /** Verifies and stores the delivery, then resolves with the answer. */
  deliver(delivery: RawDelivery): Promise<HttpReply>;
  readonly sockets: PlatformSockets;
  /**
   * A plugin's route below `<base>/plugins/<slot>`; undefined if there is none. `path` starts with a slash, and HEAD is passed as GET.
   * An unknown method yields `allow`. The caller checks `scope` before `run`.
   */
  pluginRoute(
    method: string,
    slot: string,
    path: string,
  ):
    | { readonly scope: Scope; run(delivery: RawDelivery): Promise<HttpReply> }
    | { readonly allow: readonly string[] }
    | undefined;
}
