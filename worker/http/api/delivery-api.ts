// Requests for code of plugins and adapters: webhooks, WebSockets that platforms open, routes of plugins.
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
  /** At most one of the two. */
  readonly json?: unknown;
  readonly text?: string;
}

/** WebSockets that platforms open to us, at the addresses of their webhooks. */
export interface PlatformSockets {
  /** True where an account may be spoken to over a WebSocket. */
  takes(path: string): boolean;
  /** Verifies the request, before anything is switched; gives what completes the handshake. Throws SvcError. */
  open(delivery: RawDelivery): (request: IncomingMessage, socket: Duplex, head: Buffer) => void;
  /** Those that are open now: they end with their accounts, not with the HTTP interface. */
  readonly count: number;
}

export interface DeliveryApi {
  /** How many bytes a delivery to this path may have, or undefined when nothing is there. */
  limit(path: string): number | undefined;
  /** What answers a GET at this path; undefined where nothing does. */
  challenge(path: string): ((delivery: RawDelivery) => HttpReply) | undefined;
  /** Verifies, stores, then answers. */
  deliver(delivery: RawDelivery): Promise<HttpReply>;
  readonly sockets: PlatformSockets;
  /** A plugin's own route below `<base>/plugins/<slot>`; `path` starts with a slash; HEAD comes as GET; a method that is not there gives `allow`; undefined when there is none; `scope` is checked by the caller first. */
  pluginRoute(
    method: string,
    slot: string,
    path: string,
  ):
    | { readonly scope: Scope; run(delivery: RawDelivery): Promise<HttpReply> }
    | { readonly allow: readonly string[] }
    | undefined;
}
