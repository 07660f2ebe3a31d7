// Attempts that are counted on disk and ended because the storage failed or the disk is low: through no fault of the item, so its next try in this process
// goes on with the same one. Kept in memory alone: where the process ends meanwhile, the attempt was one (it may be what ended it).
import { coerceError, SvcError } from '../../shared/svc-error.ts';
import type { InboxRow } from '../inbox/inbox-store.ts';

const MOST_CAUSES = 10;
/** A low disk keeps what lies on a platform from being copied here. */
const OURS: ReadonlySet<string> = new Set(['storage_unavailable', 'disk_budget']);

/**
 * What a handler has thrown, as its own failure. Throws where it is one of our storage that reached the handler (`get`, `once`, `readFile`), also as the cause
 * of another error: that ends no attempt. A plugin's own error is none, whatever its code says.
 */
export function ownFailure(thrown: unknown): unknown {
  let error = thrown;
  for (let depth = 0; depth < MOST_CAUSES && error instanceof Error; depth += 1, error = error.cause)
    if (error instanceof SvcError && OURS.has(error.code)) throw error;
  return thrown;
}

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
    if (OURS.has(coerceError(error).code)) this.#byItem.set(item, attempt);
  }

  /** The one that this item goes on with; undefined where it has to be counted, or was by somebody else meanwhile. */
  take({ id, state, attempts }: InboxRow): UnspentAttempt | undefined {
    const unspent = this.#byItem.get(id);
    this.#byItem.delete(id);
    return state === 'handling' && attempts === unspent?.attempts ? unspent : undefined;
  }
}
