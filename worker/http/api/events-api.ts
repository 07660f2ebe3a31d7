// The event history as a page, as SSE and as a WebSocket.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Caller } from './caller.ts';

export interface StreamRequest {
  readonly caller: Caller;
  /** `Last-Event-ID`, which beats `?lastEventId=`. */
  readonly lastEventId: string | undefined;
  readonly types: string | undefined;
  readonly endpoints: string | undefined;
  readonly gap: 'oldest' | 'head' | 'fail';
}

export interface EventGateway {
  /** Takes over the response and streams until either side ends; to HEAD, headers alone. Throws SvcError before the first byte. */
  stream(request: IncomingMessage, response: ServerResponse, options: StreamRequest): Promise<void>;
  page(options: {
    readonly caller: Caller;
    readonly after: string | undefined;
    readonly limit: number;
    readonly types: string | undefined;
    readonly endpoints: string | undefined;
  }): Promise<Readonly<Record<string, unknown>>>;
  /** Completes the WebSocket handshake of an authenticated request. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer, caller: Caller): void;
  /** `<epoch>.<seq>` now: the header `Svc-Event-Position`, read before the data. */
  position(): string;
  /** Open streams of one token, for `streamsPerToken`. */
  openStreams(actor: string): number;
  /** Ends streams whose token is gone, after a reload: 1008. */
  closeRevoked(validActors: ReadonlySet<string>): void;
  drain(): Promise<void>;
}
