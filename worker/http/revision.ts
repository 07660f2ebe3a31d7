// If-Match: a change that is meant for one revision of a thing and for no other. Revisions travel as strong ETags.
import { createHash } from 'node:crypto';
import { SvcError } from '../../shared/svc-error.ts';
import type { HostPort } from './host-port.ts';
import type { Route } from './route.ts';

const STRONG_TAG = /^"([\x21\x23-\x7e]{1,200})"$/;

/** The ETag of a revision. */
export const tagOf = (revision: string): string => `"${revision}"`;

/** A revision made of the value itself, for what has no number of its own. */
export const revisionOf = (value: unknown): string =>
  createHash('sha256').update(JSON.stringify(value)).digest('base64url').slice(0, 22);

/**
 * The revision that If-Match asks for, already compared where the route says with what; undefined for none or `*`.
 * Throws `invalid_request` when malformed or without meaning here, `precondition_failed` when another revision is there.
 */
export function readRevision(header: string | undefined, route: Route, port: HostPort): string | undefined {
  if (header === undefined) return undefined;
  if (route.revision === undefined) throw new SvcError('invalid_request', 'If-Match has no meaning here');
  if (header === '*') return undefined;
  const revision = STRONG_TAG.exec(header)?.[1];
  if (revision === undefined) throw new SvcError('invalid_request', 'If-Match takes one strong entity tag');
  if (route.revision !== 'handler' && route.revision(port) !== revision) {
    throw new SvcError('precondition_failed', 'it has changed since it was read', {
      hint: 'Read it again, then repeat.',
    });
  }
  return revision;
}
