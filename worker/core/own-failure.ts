// Recognises failures of the host in errors that plugins and adapters throw. The storage failed, or the disk is nearly full. Such a failure uses up
// no attempt.
import { SvcError } from '../../shared/svc-error.ts';

const MOST_CAUSES = 10;
/** A nearly full disk prevents copies of files on platforms. */
const OURS: ReadonlySet<string> = new Set(['storage_unavailable', 'disk_budget']);

/** The host's failure in an error or its causes; undefined if there is none. A plugin's own error is never one, whatever its code. */
export function ownFailureIn(thrown: unknown): SvcError | undefined {
  let error = thrown;
  for (let depth = 0; depth < MOST_CAUSES && error instanceof Error; depth += 1, error = error.cause)
    if (error instanceof SvcError && OURS.has(error.code)) return error;
  return undefined;
}
