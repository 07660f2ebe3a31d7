// If-Match: a change that applies to one revision only. Revisions are sent as strong ETags.
import { createHash } from 'node:crypto';
import { SvcError } from '../../../shared/svc-error.ts';
import type { HostApi } from '../api/host-api.ts';
import type { Route } from '../routes/route.ts';

const STRONG_TAG = /^"([\x21\x23-\x7e]{1,200})"$/;

/** The ETag of a revision. */
export const tagOf = (revision: string): string => `"${revision}"`;

/** A revision computed from the value, for resources without a stored revision. */
export const revisionOf = (value: unknown): string =>
  createHash('sha256').update(JSON.stringify(value)).digest('base64url').slice(0, 22);

/** The revision in If-Match; undefined for none or `*`. Throws `invalid_request` if it is malformed or the route has no revisions. */
export function readRevision(header: string | undefined, route: Route): string | undefined {
  if (header === undefined) return undefined;
  if (route.revision === undefined) throw new SvcError('invalid_request', 'If-Match has no meaning here');
  if (header === '*') return undefined;
  const revision = STRONG_TAG.exec(header)?.[1];
  if (revision === undefined) throw new SvcError('invalid_request', 'If-Match takes one strong entity tag');
  return revision;
}

/**
 * Throws `precondition_failed` if the current revision differs.
 * Checked when the change begins, after the Idempotency-Key. So a repeated change still gets its first answer after the revision moved on.
 */
export function requireRevision(revision: string | undefined, route: Route, port: HostApi): void {
  if (revision === undefined || typeof route.revision !== 'function' || route.revision(port) === revision) return;
  throw new SvcError('precondition_failed', 'it has changed since it was read', {
    hint: 'Read it again, then repeat.',
  });
}
