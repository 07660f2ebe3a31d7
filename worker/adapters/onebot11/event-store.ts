// Events on their way to the inbox. OneBot knows no acknowledgement over a WebSocket: what was pushed once does not come again.
//
//   E1  Events are stored in the order in which they came, in batches. What cannot be stored is tried again, also when the connection is gone.
//   E2  Over MOST_WAITING the connection is not read further, until they are stored.
//   E3  While a history is read nothing is stored, so that what was missed comes first; but at most MOST_HELD events wait for it.
import type { Arrival, Link } from '../../sdk/index.ts';
import type { Account } from './config.ts';
import type { Seen } from './seen.ts';

export interface EventStoreOptions {
  readonly link: Pick<Link<Account>, 'receive' | 'log'>;
  /** Where the account was up to, told with what is stored; undefined where nobody asks. */
  readonly seen: Seen | undefined;
  /** Before storing again what could not be stored. */
  readonly retryMs: number;
  /** After `close`, before what is left is given up. */
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

  /** E2. */
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

  /** E3. */
  hold(): void {
    this.#isHeld = true;
  }
  release(): void {
    this.#isHeld = false;
    this.#begin();
  }

  /** Stores what is left; resolves when it is, or given up. */
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
    await new Promise((resolve) => setImmediate(resolve)); // events that came in one packet go into one batch
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
