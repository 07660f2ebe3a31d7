// When a session may begin. A resume needs no turn.
//
//   I1  Sessions begin in turns: one for each `shard % max_concurrency` in five seconds. Whoever comes too early is told that its session is invalid.
//       Only its answer tells that Discord has begun one: the five seconds go from there, however long the question was on its way.
//   I2  1,000 a day, and over that Discord takes the token away: with fewer than LEAST_SESSIONS left none is begun.
import { setTimeout as sleep } from 'node:timers/promises';
import { countAt, type Json, objectAt } from '../../../sdk/platform/foreign-json.ts';
import type { Account } from '../config.ts';

/** What is left for what a person starts by hand. */
const LEAST_SESSIONS = 5;

export class Identifies {
  /** The last turn of each bucket: resolves to when the next one may begin, on the monotonic clock. */
  readonly #turns = new Map<number, Promise<number>>();
  #concurrency = 1;
  #remaining: number | undefined;
  #resetMs = 0;

  /** What Discord says of it now (GET /gateway/bot). */
  told(gateway: Json): void {
    const limit = objectAt(gateway, 'session_start_limit');
    this.#concurrency = Math.max(1, countAt(limit, 'max_concurrency') ?? 1);
    this.#remaining = countAt(limit, 'remaining');
    this.#resetMs = countAt(limit, 'reset_after') ?? 0;
  }

  /** I2. Throws with the reason. */
  check(): void {
    if (this.#remaining !== undefined && this.#remaining < LEAST_SESSIONS)
      throw new Error(
        `Discord allows ${this.#remaining} more sessions in the next ${Math.ceil(this.#resetMs / 60_000)} minutes: not used up`,
      );
  }

  /**
   * Resolves when this shard may begin one, to what has to be called once Discord has answered, or will not any more. Throws where it may not,
   * and when it is over.
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

/** Of the account, over all its connections. */
export function identifiesOf(account: Account): Identifies {
  const known = accounts.get(account) ?? new Identifies();
  accounts.set(account, known);
  return known;
}
