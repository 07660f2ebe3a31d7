// Rate limits of an endpoint: sends a second, and sends in a conversation. Uses the injected clock, so that tests control the time (p-queue has
// timers of its own).
import { delay } from '../../shared/time/abort.ts';
import type { Clock } from '../../shared/time/clock.ts';

export interface Rate {
  readonly perSecond?: number;
  readonly perConversation?: { readonly count: number; readonly perMs: number };
}

export class SendRate {
  readonly #clock: Clock;
  /** Monotonic times, so that setting the wall clock back delays nothing. */
  readonly #next = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Resolves when one more send may go out. Waiting sends keep their order. */
  async take(endpoint: string, conversation: string, rate: Rate | undefined): Promise<void> {
    if (rate === undefined) return;
    const waits = [
      rate.perSecond === undefined ? 0 : this.#reserve(endpoint, 1_000 / rate.perSecond),
      rate.perConversation === undefined
        ? 0
        : this.#reserve(
            JSON.stringify([endpoint, conversation]),
            rate.perConversation.perMs / rate.perConversation.count,
          ),
    ];
    const waitMs = Math.max(...waits);
    if (waitMs > 0) await delay(waitMs, undefined, this.#clock);
  }

  #reserve(key: string, spacingMs: number): number {
    const now = this.#clock.monotonic();
    const at = Math.max(now, this.#next.get(key) ?? now);
    this.#next.set(key, at + spacingMs);
    if (this.#next.size > 10_000) this.#forget(now);
    return at - now;
  }

  #forget(now: number): void {
    for (const [key, at] of this.#next) if (at <= now) this.#next.delete(key);
  }
}
