// Time that a test moves by hand: wall clock, monotonic clock and timers.
import type { Clock, Timer } from '../../shared/time/clock.ts';

interface Waiting extends Timer {
  /** Monotonic. */
  readonly at: number;
  readonly run: () => void;
}

export class ManualClock implements Clock {
  readonly #timers = new Set<Waiting>();
  #monotonic = 0;
  /** Of the wall clock over the monotonic one. */
  #offset: number;

  constructor(startAt: number) {
    this.#offset = startAt;
  }

  now(): number {
    return this.#offset + this.#monotonic;
  }

  monotonic(): number {
    return this.#monotonic;
  }

  after(delayMs: number, run: () => void): Timer {
    const at = this.#monotonic + Math.max(0, delayMs);
    const timer: Waiting = { at, run, cancel: () => this.#timers.delete(timer) };
    this.#timers.add(timer);
    return timer;
  }

  /** When the next timer ends, on the wall clock; undefined when none waits. */
  next(): number | undefined {
    let next: number | undefined;
    for (const { at } of this.#timers) if (next === undefined || at < next) next = at;
    return next === undefined ? undefined : next + this.#offset;
  }

  /** Somebody sets the wall clock: no time has passed. */
  step(byMs: number): void {
    this.#offset += byMs;
  }

  /** Moves time forward and runs every timer that ends by then, in order; never back. */
  moveTo(at: number): void {
    this.#monotonic = Math.max(this.#monotonic, at - this.#offset);
    const due = [...this.#timers].filter((timer) => timer.at <= this.#monotonic).sort((a, b) => a.at - b.at);
    for (const timer of due) if (this.#timers.delete(timer)) timer.run();
  }

  /** Forgets all timers: the process that set them is gone. */
  clear(): void {
    this.#timers.clear();
  }
}
