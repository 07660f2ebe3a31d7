// Limits wrong tokens per source: ten a minute, then 429 until that minute ends. IPv6 sources count by subnet.
// Only failures are counted and refused, so a flood of wrong tokens never locks out a valid one.
// Memory is bounded: beyond 10,000 sources a minute, the others share one budget.
// The store counts by the wall clock. If that is set back, all counts are reset, or a source would wait until the clock catches up.
import type { MemoryStore } from 'express-rate-limit';
import { systemClock } from '../../../shared/time/clock.ts';
import { ClockSteps } from '../../../shared/time/clock-steps.ts';

export interface FailureBudgetOptions {
  /** Failures allowed per source and window. Default 10. */
  readonly limit?: number;
  /** Length of the window. Default 60,000. */
  readonly windowMs?: number;
}

interface Counted {
  readonly store: MemoryStore;
  readonly keyOf: (address: string) => string;
}

const MOST_SOURCES = 10_000;
const EVERYONE_ELSE = '*';

export class FailureBudget {
  readonly #limit: number;
  readonly #windowMs: number;
  readonly #steps = new ClockSteps(systemClock);
  #opening: Promise<Counted> | undefined;

  constructor({ limit = 10, windowMs = 60_000 }: FailureBudgetOptions = {}) {
    this.#limit = limit;
    this.#windowMs = windowMs;
  }

  /** Counts a failure. Returns the milliseconds to wait once the budget is spent, otherwise undefined. */
  async spend(address: string): Promise<number | undefined> {
    const counted = await (this.#opening ??= open(this.#windowMs));
    if (this.#steps.setBack() > 0) await counted.store.resetAll();
    const { totalHits, resetTime } = await counted.store.increment(keyIn(counted, address));
    if (totalHits <= this.#limit) return undefined;
    const waitMs = (resetTime?.getTime() ?? Date.now() + this.#windowMs) - Date.now();
    return Math.max(1, waitMs);
  }

  /** Ends the store's timer. */
  close(): void {
    void this.#opening?.then(({ store }) => store.shutdown());
  }
}

/** Loaded at the first failure, to keep it out of the start. */
async function open(windowMs: number): Promise<Counted> {
  const { ipKeyGenerator, MemoryStore } = await import('express-rate-limit');
  const store = new MemoryStore();
  store.init({ windowMs } as Parameters<MemoryStore['init']>[0]);
  return { store, keyOf: ipKeyGenerator };
}

function keyIn({ store: { current, previous }, keyOf }: Counted, address: string): string {
  const key = keyOf(address);
  const isKnown = current.has(key) || previous.has(key);
  return isKnown || current.size + previous.size < MOST_SOURCES ? key : EVERYONE_ELSE;
}
