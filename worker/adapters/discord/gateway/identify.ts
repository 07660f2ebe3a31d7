// Decides when a new gateway session may begin. A resume needs no turn.
//
//   DISCORD-IDENTIFY-1  Discord allows one new session per five seconds for each value of `shard % max_concurrency`, and invalidates earlier ones.
//                       The five seconds run from Discord's response, because only that shows when the session began.
//   DISCORD-IDENTIFY-2  Discord allows 1,000 sessions a day and resets the token after more. With fewer than LEAST_SESSIONS left, none is begun.
import { setTimeout as sleep } from 'node:timers/promises';
import { countAt, type Json, objectAt } from '../../../sdk/platform/foreign-json.ts';
import type { Account } from '../config.ts';

/** Sessions reserved for manual starts. */
const LEAST_SESSIONS = 5;

export class Identifies {
  /** The last turn of each bucket. Resolves to the time when the next may begin, in monotonic ms. */
  readonly #turns = new Map<number, Promise<number>>();
  #concurrency = 1;
  #remaining: number | undefined;
  #resetMs = 0;

  /** Takes the limits from a response to GET /gateway/bot. */
  told(gateway: Json): void {
    const limit = objectAt(gateway, 'session_start_limit');
    this.#concurrency = Math.max(1, countAt(limit, 'max_concurrency') ?? 1);
    this.#remaining = countAt(limit, 'remaining');
    this.#resetMs = countAt(limit, 'reset_after') ?? 0;
  }

  /** Throws with a reason if too few sessions are left for today. */
  check(): void {
    if (this.#remaining !== undefined && this.#remaining < LEAST_SESSIONS)
      throw new Error(
        `Discord allows ${this.#remaining} more sessions in the next ${Math.ceil(this.#resetMs / 60_000)} minutes: not used up`,
      );
  }

  /**
   * Resolves when this shard may begin a session. The caller must call the result once Discord has responded or cannot respond any more. Throws if no
   * session may begin, or on abort.
   */
  async turn(
    shard: number,
    { everyMs, signal }: { readonly everyMs: number; readonly signal: AbortSignal },
  ): Promise<() => void> {
    this.check();
    signal.throwIfAborted();
    const bucket = shard % this.#concurrency;
    const former = this.#turns.get(bucket) ?? Promise.resolve(0);
    let pass: (at: number) => void = () => {};
    this.#turns.set(
      bucket,
      new Promise((resolve) => {
        pass = resolve;
      }),
    );
    try {
      const waitMs = (await Promise.race([former, endOf(signal)])) - performance.now();
      if (waitMs > 0) await sleep(waitMs, undefined, { signal, ref: false });
      this.check();
    } catch (error) {
      void former.then(pass);
      throw error;
    }
    if (this.#remaining !== undefined) this.#remaining -= 1;
    return () => pass(performance.now() + everyMs);
  }
}

const endOf = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
  });

const accounts = new WeakMap<Account, Identifies>();

/** The limiter that all connections of an account share. */
export function identifiesOf(account: Account): Identifies {
  const known = accounts.get(account) ?? new Identifies();
  accounts.set(account, known);
  return known;
}
