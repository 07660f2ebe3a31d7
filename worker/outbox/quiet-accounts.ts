// Accounts that a platform has told to pause. None of their sends starts before the pause is over, and no attempt is used up.
import type { Clock } from '../../shared/time/clock.ts';

export class QuietAccounts {
  readonly #clock: Clock;
  readonly #over: () => void;
  /** End of each pause, on the monotonic clock. */
  readonly #until = new Map<string, number>();

  /** `over` is called each time an account may send again. */
  constructor(clock: Clock, over: () => void) {
    this.#clock = clock;
    this.#over = over;
  }

  has(endpoint: string): boolean {
    return this.#until.has(endpoint);
  }

  /** The longest requested pause counts. */
  hold(endpoint: string, ms: number): void {
    const until = this.#clock.monotonic() + ms;
    if (until <= (this.#until.get(endpoint) ?? 0)) return;
    this.#until.set(endpoint, until);
    this.#clock.after(ms, () => {
      if (this.#until.get(endpoint) !== until) return;
      this.#until.delete(endpoint);
      this.#over();
    });
  }
}
