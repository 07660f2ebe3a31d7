// A clock that a test moves by hand: wall clock, monotonic clock and timers.
import type { Clock, Timer } from '../../shared/time/clock.ts';

interface Waiting extends Timer {
  /** Due time on the monotonic clock. */
  readonly at: number;
  readonly run: () => void;
}

export class ManualClock implements Clock {
  readonly #timers = new Set<Waiting>();
  #monotonic = 0;
  /** Wall clock minus monotonic clock. */
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

  /** When the next timer is due, on the wall clock; undefined if there is none. */
  next(): number | undefined {
    let next: number | undefined;
    for (const { at } of this.#timers) if (next === undefined || at < next) next = at;
    return next === undefined ? undefined : next + this.#offset;
  }

  /** Sets the wall clock forward or back. No time passes. */
  step(byMs: number): void {
    this.#offset += byMs;
  }

  /** Moves time forward, never back, and runs every timer that is due by then, in order. */
  moveTo(at: number): void {
    this.#monotonic = Math.max(this.#monotonic, at - this.#offset);
    const due = [...this.#timers].filter((timer) => timer.at <= this.#monotonic).sort((a, b) => a.at - b.at);
    for (const timer of due) if (this.#timers.delete(timer)) timer.run();
  }

  /** Drops all timers, because the process that set them has ended. */
  clear(): void {
    this.#timers.clear();
  }
}
