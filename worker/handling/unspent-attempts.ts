// Attempts counted on disk that ended because the storage failed or the disk was low. The item is not at fault, so its next try in this process
// continues the same attempt. Kept in memory only: if the process ends, the attempt counts, because it may be the cause.

import { ownFailureIn } from '../core/own-failure.ts';
import type { InboxRow } from '../inbox/inbox-store.ts';

export interface UnspentAttempt {
  /** Attempts of the item, this one included. */
  readonly attempts: number;
  /** Number of this attempt for each handler that counts it. */
  readonly ofHandlers: ReadonlyMap<string, number>;
}

export class UnspentAttempts {
  readonly #byItem = new Map<string, UnspentAttempt>();

  /** Records an attempt that ended with this error. */
  ended(item: string, attempt: UnspentAttempt, error: unknown): void {
    if (ownFailureIn(error) !== undefined) this.#byItem.set(item, attempt);
  }

  /** The attempt that this item continues. Undefined if a new one has to be counted, or if the stored count has changed meanwhile. */
  take({ id, state, attempts }: InboxRow): UnspentAttempt | undefined {
    const unspent = this.#byItem.get(id);
    this.#byItem.delete(id);
    return state === 'handling' && attempts === unspent?.attempts ? unspent : undefined;
  }
}
