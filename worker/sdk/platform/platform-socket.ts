// A WebSocket that a platform opened to an account (`webhook.socket`), for its adapter.
import type { RawRequest } from '../request.ts';

/** The host sends pings to it, and closes it with 1012 when the run of `connect` that took it ends. */
export interface PlatformSocket {
  /** The verified request that opened it: headers and query. Its body is empty. */
  readonly request: RawRequest;
  /** Resolves to the reason once the socket is closed. Never rejects. */
  readonly ended: Promise<string>;
  /** Starts reading. `take` gets each message from the first one on, in order. Binary messages are read as UTF-8. */
  onMessage(take: (text: string) => void): void;
  /** Sends a message. Does nothing if the socket is closed. */
  send(text: string): void;
  /** Stops reading, also pings, until `resume`. Use it for at most some seconds. */
  pause(): void;
  resume(): void;
  close(code?: number, reason?: string): void;
}
