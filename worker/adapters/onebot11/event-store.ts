// Queue of events on their way to the inbox. OneBot has no acknowledgement over WebSockets, so an event is pushed only once.
//
//   ONEBOT11-EVENT-STORE-1  Events are stored in order of arrival, in batches. A failed write is retried, even after the connection ended.
//   ONEBOT11-EVENT-STORE-2  With more than MOST_WAITING events queued, the connection is not read until they are stored.
//   ONEBOT11-EVENT-STORE-3  While missed messages are fetched, new events wait, so that the order holds. At most MOST_HELD events wait.
import type { Arrival, Link } from '../../sdk/index.ts';
import type { Account } from './config.ts';
import type { Seen } from './seen.ts';

export interface EventStoreOptions {
  readonly link: Pick<Link<Account>, 'receive' | 'log'>;
  /** Computes the cursor to store with events. Undefined if the account does not catch up on missed messages. */
  readonly seen: Seen | undefined;
  /** Delay before a failed write is retried. */
  readonly retryMs: number;
  /** Time after `close` before unsaved events are given up. */
  readonly lastMs: number;
  pause(): void;
  resume(): void;
}

const MOST_BATCH = 64;
const MOST_WAITING = 1_000;
const MOST_HELD = 1_000;

export class EventStore {
  readonly #options: EventStoreOptions;
  readonly #waiting: Arrival[] = [];
  #storing: Promise<void> | undefined;
  #isHeld = false;
  #isPaused = false;
  #endsAt = Number.POSITIVE_INFINITY;

  constructor(options: EventStoreOptions) {
    this.#options = options;
  }

  /** True while too many events are queued and the connection is not read. */
  get isPaused(): boolean {
    return this.#isPaused;
  }

  add(arrivals: readonly Arrival[]): void {
    this.#waiting.push(...arrivals);
    if (this.#isHeld && this.#waiting.length > MOST_HELD) this.release();
    if (!this.#isHeld && !this.#isPaused && this.#waiting.length > MOST_WAITING) {
      this.#isPaused = true;
      this.#options.pause();
    }
    this.#begin();
  }

  /** New events wait until `release`, so that missed ones are stored first. */
  hold(): void {
    this.#isHeld = true;
  }
  release(): void {
    this.#isHeld = false;
    this.#begin();
  }

  /** Stores the remaining events. Resolves when they are stored or given up. */
  async close(): Promise<void> {
    this.#endsAt = performance.now() + this.#options.lastMs;
    this.release();
    while (this.#storing !== undefined) await this.#storing;
  }

  #begin(): void {
    if (this.#isHeld || this.#waiting.length === 0) return;
    this.#storing ??= this.#store().finally(() => {
      this.#storing = undefined;
      this.#begin();
    });
  }

  async #store(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve)); // events of one packet form one batch
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.slice(0, MOST_BATCH);
      if (!(await this.#isKept(batch))) {
        this.#options.link.log.error({ events: this.#waiting.length }, 'events are lost: they could not be stored');
        this.#waiting.length = 0;
        return;
      }
      this.#waiting.splice(0, batch.length);
      if (this.#isPaused && this.#waiting.length <= MOST_BATCH) {
        this.#isPaused = false;
        this.#options.resume();
      }
    }
  }

  async #isKept(batch: readonly Arrival[]): Promise<boolean> {
    const { link, seen, retryMs } = this.#options;
    for (let tries = 1; ; tries += 1) {
      try {
        await link.receive(batch, seen?.after(batch));
        return true;
      } catch (error) {
        if (tries === 1) link.log.warn({ events: batch.length, err: error }, 'events wait: they could not be stored');
        if (performance.now() > this.#endsAt) return false;
        await new Promise((resolve) => setTimeout(resolve, retryMs));
      }
    }
  }
}
