// The reason why the newest configuration does not serve, for operators.
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

/** Without a database no configuration is tried, so a failed database is the reason. */
export function shownFailure({ current, lastFailure }: Tried, database: DatabaseState): ShownFailure | null {
  if (lastFailure !== undefined) return { code: lastFailure.code, reason: lastFailure.message };
  if (current !== undefined || database.kind !== 'failed') return null;
  return { code: database.code, reason: database.reason };
}
