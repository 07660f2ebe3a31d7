// WebSockets that a platform opened to one account, from the handshake to the connection that takes them.
//
//   A1  One that comes before the account has a connection waits for it, unread; of those that wait only the newest MOST_WAITING are kept.
//   A2  The end of a connection closes those that it was handed, with 1012: the platform comes again.
import type { PlatformSocket } from '../sdk/index.ts';

const MOST_WAITING = 4;
const TRY_AGAIN_LATER = 1013;
const SERVICE_RESTART = 1012;

export class AcceptedSockets {
  readonly #waiting: PlatformSocket[] = [];
  #take: ((socket: PlatformSocket) => void) | undefined;

  /** To the connection there is, else to the next one. */
  hand(socket: PlatformSocket): void {
    if (this.#take !== undefined) return this.#take(socket);
    this.#waiting.push(socket);
    if (this.#waiting.length > MOST_WAITING) this.#waiting.shift()?.close(TRY_AGAIN_LATER, 'too many wait');
  }

  /** Until the signal aborts, in the order in which they came. */
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

  /** For an account that is disabled or failed: nobody will come for those that wait. */
  clear(): void {
    for (const socket of this.#waiting.splice(0)) socket.close(SERVICE_RESTART, 'this account takes nothing now');
  }

  #leave(taken: (socket: PlatformSocket) => void): void {
    if (this.#take === taken) this.#take = undefined;
  }
}
