// The event history as a page, as SSE and as a WebSocket.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Caller } from './caller.ts';

export interface StreamRequest {
  readonly caller: Caller;
  /** The header `Last-Event-ID`, which overrides `?lastEventId=`. */
  readonly lastEventId: string | undefined;
  readonly types: string | undefined;
  readonly endpoints: string | undefined;
  readonly gap: 'oldest' | 'head' | 'fail';
}

export interface EventGateway {
  /** Takes over the response and streams until either side ends. HEAD gets headers only. Throws SvcError before the first byte. */
  stream(request: IncomingMessage, response: ServerResponse, options: StreamRequest): Promise<void>;
  page(options: {
    readonly caller: Caller;
    readonly after: string | undefined;
    readonly limit: number;
    readonly types: string | undefined;
    readonly endpoints: string | undefined;
  }): Promise<Readonly<Record<string, unknown>>>;
  /** Completes the WebSocket handshake of an authenticated request. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer, caller: Caller): Promise<void>;
  /** The current `<epoch>.<seq>`, for the header `Svc-Event-Position`. Read it before the data of an answer. */
  position(): string;
  /** Number of open streams of one token, limited by `streamsPerToken`. */
  openStreams(actor: string): number;
  /** Ends streams whose token a reload removed. A WebSocket closes with 1008. */
  closeRevoked(validActors: ReadonlySet<string>): void;
  drain(): Promise<void>;
}
