// WebSockets that a platform opened to one account, between the handshake and the connection that takes them.
//
//   ACCEPTED-SOCKETS-1  A socket that opens before the account has a connection waits unread. Only the newest MOST_WAITING are kept.
//   ACCEPTED-SOCKETS-2  When a connection ends, its sockets are closed with code 1012, so the platform reconnects.
import type { PlatformSocket } from '../sdk/index.ts';

const MOST_WAITING = 4;
const TRY_AGAIN_LATER = 1013;
const SERVICE_RESTART = 1012;

export class AcceptedSockets {
  readonly #waiting: PlatformSocket[] = [];
  #take: ((socket: PlatformSocket) => void) | undefined;

  /** Gives the socket to the current connection, or to the next one. */
  hand(socket: PlatformSocket): void {
    if (this.#take !== undefined) return this.#take(socket);
    this.#waiting.push(socket);
    if (this.#waiting.length > MOST_WAITING) this.#waiting.shift()?.close(TRY_AGAIN_LATER, 'too many wait');
  }

  /** Takes sockets in order of arrival until the signal aborts. */
  accept(take: (socket: PlatformSocket) => void, signal: AbortSignal): void {
    if (signal.aborted) return;
    const taken = (socket: PlatformSocket): void => {
      const close = (): void => socket.close(SERVICE_RESTART, 'come again');
      signal.addEventListener('abort', close, { once: true });
      void socket.ended.then(() => signal.removeEventListener('abort', close));
      take(socket);
    };
    this.#take = taken;
    signal.addEventListener('abort', () => this.#leave(taken), { once: true });
    for (const socket of this.#waiting.splice(0)) taken(socket);
  }

  /** Closes waiting sockets of an account that is disabled or failed, because no connection will take them. */
  clear(): void {
    for (const socket of this.#waiting.splice(0)) socket.close(SERVICE_RESTART, 'this account takes nothing now');
  }

  #leave(taken: (socket: PlatformSocket) => void): void {
    if (this.#take === taken) this.#take = undefined;
  }
}
