// Attempts that are counted on disk and ended because the storage failed or the disk is low: through no fault of the item, so its next try in this process
// goes on with the same one. Kept in memory alone: where the process ends meanwhile, the attempt was one (it may be what ended it).

import { ownFailureIn } from '../core/own-failure.ts';
import type { InboxRow } from '../inbox/inbox-store.ts';

export interface UnspentAttempt {
  /** Of the item, this one included. */
  readonly attempts: number;
  /** By handler: which of its own attempts this is, where that is counted. */
  readonly ofHandlers: ReadonlyMap<string, number>;
}

export class UnspentAttempts {
  readonly #byItem = new Map<string, UnspentAttempt>();

  /** An attempt ended with this error. */
  ended(item: string, attempt: UnspentAttempt, error: unknown): void {
    if (ownFailureIn(error) !== undefined) this.#byItem.set(item, attempt);
  }

  /** The one that this item goes on with; undefined where it has to be counted, or was by somebody else meanwhile. */
  take({ id, state, attempts }: InboxRow): UnspentAttempt | undefined {
    const unspent = this.#byItem.get(id);
    this.#byItem.delete(id);
    return state === 'handling' && attempts === unspent?.attempts ? unspent : undefined;
  }
}
