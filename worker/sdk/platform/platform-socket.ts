// A WebSocket that a platform opened to one of our accounts (`webhook.socket`), as its adapter sees it.
import type { RawRequest } from '../request.ts';

/** The host watches it with pings, and closes it with 1012 when the connection that it was handed to ends. */
export interface PlatformSocket {
  /** By which it was opened, verified: headers and query. Its body is empty. */
  readonly request: RawRequest;
  /** Resolves to the reason, when it is gone. Never rejects. */
  readonly ended: Promise<string>;
  /** Begins to read: each message from the first one on, in order. Binary ones are read as UTF-8. */
  onMessage(take: (text: string) => void): void;
  /** Nothing happens where it is gone. */
  send(text: string): void;
  /** Reads nothing more, also no pings, until `resume`: for at most some seconds. */
  pause(): void;
  resume(): void;
  close(code?: number, reason?: string): void;
}
