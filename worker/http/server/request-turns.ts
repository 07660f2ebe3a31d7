// When a request begins. A turn of the event loop begins as many as fit into a slice of time; the rest waits for the next turn, so that timers,
// new connections and probes have theirs in between however much strangers ask for.
//
//   T1  On a host that is not busy a request begins at once.
//   T2  Who waits begins in turn: the operator (a valid token), deliveries of platforms, all others; within each by client, on loopback by
//       connection. A client with many requests takes no more turns than one with a single request.
//   T3  Probes do not wait here: they are answered before.
//   T4  While connections come in, nothing begins (shared/process/connections-first.ts): a turn takes one of them, and among them may be a probe.
import { afterConnections, isHoldingForConnections } from '../../../shared/process/connections-first.ts';
import { madeProgress } from '../../../shared/process/loop-progress.ts';
import { FairQueue } from './fair-queue.ts';

export type RequestClass = 'operator' | 'delivery' | 'other';

const SLICE_MS = 10;
/** A request may go on long after its beginning has returned, which no clock sees before the turn is over. */
const MOST_OF_SLICE = 64;

export class RequestTurns {
  readonly #waiting = new FairQueue<RequestClass, () => void>(['operator', 'delivery', 'other']);
  /** Of the slice of this turn; undefined when nothing has begun in it. */
  #endsAt: number | undefined;

  /** `now`: monotonic milliseconds. True when it may begin at once (T1). */
  isFree(now: number): boolean {
    madeProgress(now);
    if (this.#waiting.size > 0 || isHoldingForConnections()) return false;
    if (this.#endsAt === undefined) {
      this.#endsAt = now + SLICE_MS;
      setImmediate(this.#turn);
    }
    return now < this.#endsAt;
  }

  /** Begins when its turn has come. Must not throw. */
  later(begin: () => void, place: { readonly of: RequestClass; readonly lane: unknown }): void {
    if (this.#waiting.size === 0 && this.#endsAt === undefined) setImmediate(this.#turn);
    this.#endsAt ??= Number.NEGATIVE_INFINITY;
    this.#waiting.add(begin, place);
  }

  readonly #turn = (): void => {
    const connected = this.#waiting.size > 0 ? afterConnections() : undefined; // T4
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
