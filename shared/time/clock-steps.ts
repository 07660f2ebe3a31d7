// Detects that the wall clock was set back while this process runs, by comparison with the monotonic clock.
import type { Clock } from './clock.ts';

/** The natural drift of the two clocks within a minute is far less. */
const LEAST_STEP_MS = 1_000;

export class ClockSteps {
  readonly #clock: Clock;
  #offset: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#offset = this.#now();
  }

  /** Milliseconds by which the clock was set back since the last call. 0 if it was not. */
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
