// Time that a test moves by hand: wall clock, monotonic clock and timers.
import type { Clock, Timer } from '../../../shared/clock.ts';

interface Waiting extends Timer {
  readonly at: number;
  readonly run: () => void;
}

export class ManualClock implements Clock {
  readonly #startedAt: number;
  readonly #timers = new Set<Waiting>();
  #now: number;

  constructor(startAt: number) {
    this.#startedAt = startAt;
    this.#now = startAt;
  }

  now(): number {
    return this.#now;
  }

  monotonic(): number {
    return this.#now - this.#startedAt;
  }

  after(delayMs: number, run: () => void): Timer {
    const timer: Waiting = { at: this.#now + Math.max(0, delayMs), run, cancel: () => this.#timers.delete(timer) };
    this.#timers.add(timer);
    return timer;
  }

  /** When the next timer ends; undefined when none waits. */
  next(): number | undefined {
    let next: number | undefined;
    for (const { at } of this.#timers) if (next === undefined || at < next) next = at;
    return next;
  }

  /** Moves time forward and runs every timer that ends by then, in order; never back. */
  moveTo(at: number): void {
    this.#now = Math.max(this.#now, at);
    const due = [...this.#timers].filter((timer) => timer.at <= this.#now).sort((a, b) => a.at - b.at);
    for (const timer of due) if (this.#timers.delete(timer)) timer.run();
  }

  /** Forgets all timers: the process that set them is gone. */
  clear(): void {
    this.#timers.clear();
  }
}
