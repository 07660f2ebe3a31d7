// Backoff of a send after failures of the host itself (disk, memory, file descriptors). Kept in memory only, because a restart may fix the cause and
// should retry at once.
import { backoffDelay } from '../../shared/time/backoff.ts';
import { keepNewest } from '../sdk/platform/keep-newest.ts';

const MOST_KEPT = 10_000;

export class HostFailureBackoff {
  readonly #failures = new Map<string, number>();

  /** Delay in milliseconds after one more failure. */
  next(send: string): number {
    const failures = (this.#failures.get(send) ?? 0) + 1;
    keepNewest(this.#failures, [send, failures], MOST_KEPT);
    return backoffDelay(failures);
  }

  /** The attempt had another outcome, so the count is reset. */
  end(send: string): void {
    this.#failures.delete(send);
  }
}
