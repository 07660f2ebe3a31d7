// Why the newest configuration does not serve, as operators are shown it.
import type { SvcError } from '../../shared/svc-error.ts';

export const shownFailure = (
  failure: SvcError | undefined,
): { readonly code: string; readonly reason: string } | null =>
  failure === undefined ? null : { code: failure.code, reason: failure.message };
