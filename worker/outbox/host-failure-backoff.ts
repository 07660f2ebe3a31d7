// How long a send waits where the host itself has failed at what it needs: longer each time in a row, for what the machine lacks it does not have
// again within a second. Kept in memory: a new start may well be what mends it, and tries at once.
import { backoffDelay } from '../../shared/time/backoff.ts';
import { keepNewest } from '../sdk/platform/keep-newest.ts';

const MOST_KEPT = 10_000;

export class HostFailureBackoff {
  readonly #failures = new Map<string, number>();

  /** After one more failure. */
  next(send: string): number {
    const failures = (this.#failures.get(send) ?? 0) + 1;
    keepNewest(this.#failures, [send, failures], MOST_KEPT);
    return backoffDelay(failures);
  }

  /** Something else came of its attempt. */
  end(send: string): void {
    this.#failures.delete(send);
  }
}
