// Why the newest configuration does not serve, as operators are shown it.
import type { SvcError } from '../../../shared/svc-error.ts';
import type { DatabaseState } from '../../database/database-host.ts';

export interface ShownFailure {
  readonly code: string;
  readonly reason: string;
}

interface Tried {
  readonly current: unknown;
  readonly lastFailure: SvcError | undefined;
}

/** Without a database no configuration is tried at all: where nothing serves, that is why. */
export function shownFailure({ current, lastFailure }: Tried, database: DatabaseState): ShownFailure | null {
  if (lastFailure !== undefined) return { code: lastFailure.code, reason: lastFailure.message };
  if (current !== undefined || database.kind !== 'failed') return null;
  return { code: database.code, reason: database.reason };
}
