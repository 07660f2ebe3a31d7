// Accounts that a platform has told to be quiet for a while: none of their sends is begun before it is over, and none uses up an attempt.
import type { Clock } from '../../shared/time/clock.ts';

export class QuietAccounts {
  readonly #clock: Clock;
  readonly #over: () => void;
  /** Monotonic. */
  readonly #until = new Map<string, number>();

  /** `over`: called each time one may send again. */
  constructor(clock: Clock, over: () => void) {
    this.#clock = clock;
    this.#over = over;
  }

  has(endpoint: string): boolean {
    return this.#until.has(endpoint);
  }

  /** The longest that was told counts. */
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
