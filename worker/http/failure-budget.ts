// How many wrong tokens one source may try: ten a minute, then 429 until its minute ends. Only failures are counted and
// only failures are refused, so a flood of wrong tokens never locks a valid one out. IPv6 sources count by subnet.
// Memory is bounded: beyond 10,000 sources a minute the rest share one budget.
import { ipKeyGenerator, MemoryStore } from 'express-rate-limit';

export interface FailureBudgetOptions {
  /** Failures allowed per source and window. Default 10. */
  readonly limit?: number;
  /** Length of the window. Default 60,000. */
  readonly windowMs?: number;
}

const MOST_SOURCES = 10_000;
const EVERYONE_ELSE = '*';

export class FailureBudget {
  readonly #limit: number;
  readonly #windowMs: number;
  readonly #store = new MemoryStore();

  constructor({ limit = 10, windowMs = 60_000 }: FailureBudgetOptions = {}) {
    this.#limit = limit;
    this.#windowMs = windowMs;
    this.#store.init({ windowMs } as Parameters<MemoryStore['init']>[0]);
  }

  /** Counts a failure; gives the milliseconds to wait once the budget is spent, else undefined. */
  async spend(address: string): Promise<number | undefined> {
    const { totalHits, resetTime } = await this.#store.increment(this.#keyOf(address));
    if (totalHits <= this.#limit) return undefined;
    const waitMs = (resetTime?.getTime() ?? Date.now() + this.#windowMs) - Date.now();
    return Math.max(1, waitMs);
  }

  /** Ends the store's timer. */
  close(): void {
    this.#store.shutdown();
  }

  #keyOf(address: string): string {
    const key = ipKeyGenerator(address);
    const { current, previous } = this.#store;
    const isKnown = current.has(key) || previous.has(key);
    return isKnown || current.size + previous.size < MOST_SOURCES ? key : EVERYONE_ELSE;
  }
}
