// What the host itself has failed at, in what foreign code throws: our storage, or a disk that is too low for more. Nobody's attempt is used up by it.
import { SvcError } from '../../shared/svc-error.ts';

const MOST_CAUSES = 10;
/** A low disk keeps what lies on a platform from being copied here. */
const OURS: ReadonlySet<string> = new Set(['storage_unavailable', 'disk_budget']);

/** The failure of ours that was thrown, or is a cause of what was; undefined where it is another's. A plugin's own error is none, whatever its code says. */
export function ownFailureIn(thrown: unknown): SvcError | undefined {
  let error = thrown;
  for (let depth = 0; depth < MOST_CAUSES && error instanceof Error; depth += 1, error = error.cause)
    if (error instanceof SvcError && OURS.has(error.code)) return error;
  return undefined;
}
