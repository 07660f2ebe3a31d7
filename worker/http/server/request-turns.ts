// Decides when a request begins. A turn of the event loop begins requests for 10 ms; the rest wait for the next turn.
// So timers, new connections and probes get their turn under any load.
//
//   TURN-1  On an idle host a request begins at once.
//   TURN-2  Waiting requests take turns by class: operator (valid token), deliveries of platforms, all others. Within a class they take
//           turns by client, on loopback by connection. Many requests of a client get no more turns than one.
//   TURN-3  Probes never wait here.
//   TURN-4  Nothing begins while new connections arrive. A turn accepts one connection, and a probe may be among them.
import { afterConnections, isHoldingForConnections } from '../../../shared/process/connections-first.ts';
import { madeProgress } from '../../../shared/process/loop-progress.ts';
import { FairQueue } from './fair-queue.ts';

export type RequestClass = 'operator' | 'delivery' | 'other';

const SLICE_MS = 10;
/** Code of a request may run after its beginning has returned. The clock sees that only in the next turn, so the count is bounded too. */
const MOST_OF_SLICE = 64;

export class RequestTurns {
  readonly #waiting = new FairQueue<RequestClass, () => void>(['operator', 'delivery', 'other']);
  /** End of this turn's slice. Undefined if nothing has begun in this turn. */
  #endsAt: number | undefined;

  /** Number of requests that wait for their turn. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /** True if the request may begin at once. `now` is in monotonic milliseconds. */
  isFree(now: number): boolean {
    madeProgress(now);
    if (this.#waiting.size > 0 || isHoldingForConnections()) return false;
    if (this.#endsAt === undefined) {
      this.#endsAt = now + SLICE_MS;
      setImmediate(this.#turn);
    }
    return now < this.#endsAt;
  }

  /** Begins the request in its turn. `begin` must not throw. */
  later(begin: () => void, place: { readonly of: RequestClass; readonly lane: unknown }): void {
    if (this.#waiting.size === 0 && this.#endsAt === undefined) setImmediate(this.#turn);
    this.#endsAt ??= Number.NEGATIVE_INFINITY;
    this.#waiting.add(begin, place);
  }

  readonly #turn = (): void => {
    const connected = this.#waiting.size > 0 ? afterConnections() : undefined; // new connections come first
    if (connected !== undefined) return void connected.then(() => setImmediate(this.#turn));
    const endsAt = performance.now() + SLICE_MS;
    for (let n = 0; n < MOST_OF_SLICE && performance.now() < endsAt; n += 1) {
      const begin = this.#waiting.take();
      if (begin === undefined) break;
      begin();
    }
    madeProgress(performance.now());
    this.#endsAt = undefined;
    if (this.#waiting.size === 0) return;
    this.#endsAt = Number.NEGATIVE_INFINITY;
    setImmediate(this.#turn);
  };
}
