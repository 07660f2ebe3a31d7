// When a session may begin. A resume needs no turn.
//
//   I1  Sessions begin in turns: one for each `shard % max_concurrency` in five seconds. Whoever comes too early is told that its session is invalid.
//   I2  1,000 a day, and over that Discord takes the token away: with fewer than LEAST_SESSIONS left none is begun.
import { setTimeout as sleep } from 'node:timers/promises';
import { countAt, type Json, objectAt } from '../../sdk/foreign-json.ts';
import type { Account } from './config.ts';

/** What is left for what a person starts by hand. */
const LEAST_SESSIONS = 5;

export class Identifies {
  /** When the next one of a bucket may begin, on the monotonic clock. */
  readonly #next = new Map<number, number>();
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

  /** Resolves when this shard may begin one. Throws where it may not, and when it is over. */
  async turn(shard: number, { everyMs, signal }: { readonly everyMs: number; readonly signal: AbortSignal }) {
    this.check();
    const bucket = shard % this.#concurrency;
    const now = performance.now();
    const at = Math.max(now, this.#next.get(bucket) ?? now);
    this.#next.set(bucket, at + everyMs);
    if (at > now) await sleep(at - now, undefined, { signal, ref: false });
    this.check();
    if (this.#remaining !== undefined) this.#remaining -= 1;
  }
}

const accounts = new WeakMap<Account, Identifies>();

/** Of the account, over all its connections. */
export function identifiesOf(account: Account): Identifies {
  const known = accounts.get(account) ?? new Identifies();
  accounts.set(account, known);
  return known;
}
