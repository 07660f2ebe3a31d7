// If-Match: a change that is meant for one revision of a thing and for no other. Revisions travel as strong ETags.
import { createHash } from 'node:crypto';
import { SvcError } from '../../../shared/svc-error.ts';
import type { HostApi } from '../api/host-api.ts';
import type { Route } from '../routes/route.ts';

const STRONG_TAG = /^"([\x21\x23-\x7e]{1,200})"$/;

/** The ETag of a revision. */
export const tagOf = (revision: string): string => `"${revision}"`;

/** A revision made of the value itself, for what has no number of its own. */
export const revisionOf = (value: unknown): string =>
  createHash('sha256').update(JSON.stringify(value)).digest('base64url').slice(0, 22);

/** The revision that If-Match asks for; undefined for none or `*`. Throws `invalid_request` when malformed or without meaning here. */
export function readRevision(header: string | undefined, route: Route): string | undefined {
  if (header === undefined) return undefined;
  if (route.revision === undefined) throw new SvcError('invalid_request', 'If-Match has no meaning here');
  if (header === '*') return undefined;
  const revision = STRONG_TAG.exec(header)?.[1];
  if (revision === undefined) throw new SvcError('invalid_request', 'If-Match takes one strong entity tag');
  return revision;
}

/**
 * Compares it where the route says with what; throws `precondition_failed`. Asked when the change begins, so that a change repeated under its
 * Idempotency-Key gets its answer, although the revision is another since.
 */
export function requireRevision(revision: string | undefined, route: Route, port: HostApi): void {
  if (revision === undefined || typeof route.revision !== 'function' || route.revision(port) === revision) return;
  throw new SvcError('precondition_failed', 'it has changed since it was read', {
    hint: 'Read it again, then repeat.',
  });
}
