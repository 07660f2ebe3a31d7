// Whether somebody set the wall clock back while this process ran: the monotonic clock does not take part in that.
import type { Clock } from './clock.ts';

/** What the two clocks drift apart by themselves within a minute is far less. */
const LEAST_STEP_MS = 1_000;

export class ClockSteps {
  readonly #clock: Clock;
  #offset: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#offset = this.#now();
  }

  /** By how much it was set back since the last look; 0 when it was not. */
  setBack(): number {
    const offset = this.#now();
    const byMs = Math.round(this.#offset - offset);
    this.#offset = offset;
    return byMs < LEAST_STEP_MS ? 0 : byMs;
  }

  #now(): number {
    return this.#clock.now() - this.#clock.monotonic();
  }
}
