// Reads the content of a request: raw bytes if the route asks for them, otherwise JSON that its schema accepts.
// Below /api, a body that contains a token is refused.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { SvcError } from '../../../shared/svc-error.ts';
import { within } from '../../../shared/time/abort.ts';
import type { Caller } from '../api/caller.ts';
import type { HostApi } from '../api/host-api.ts';
import type { Match, Route } from '../routes/route.ts';
import { readBody } from './body.ts';
import { type BodyValidators, readJsonBody } from './json-body.ts';
import { contextOf } from './request-context.ts';
import { hasContent } from './request-head.ts';
import { type BodyCheck, hasFields, refuseTokenInBody } from './token-elsewhere.ts';

export interface ContentParts {
  readonly port: HostApi;
  readonly validators: BodyValidators;
}

export interface ContentOf {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly match: Match;
}

export interface Content {
  /** Undefined if the route has no schema. */
  readonly value: unknown;
  readonly bytes: Buffer;
}

/** Limits on reading the body of a caller who is about to be refused. */
const STRANGER_BYTES = 16 * 1024;
const STRANGER_MS = 500;
const NO_BYTES = Buffer.alloc(0);

export const isApi = ({ path }: Route): boolean => path.startsWith('/api/');

export async function readContent(
  parts: ContentParts,
  { request, response, match }: ContentOf,
  caller: Caller | undefined,
): Promise<Content> {
  const { route } = match;
  const { limits, tokens } = parts.port.settings();
  const limitBytes = match.limitBytes ?? limits.bodyBytes;
  const check = checkOf(parts, route, caller?.scope === 'full' ? tokens : []);
  if (route.raw === true) {
    const bytes = hasContent(request) ? await readBody(request, response, limitBytes) : NO_BYTES;
    if (isApi(route)) await refuseTokenInBody(request, bytes, check);
    return { value: undefined, bytes };
  }
  if (route.body === undefined) {
    if (hasContent(request) && isApi(route)) throw new SvcError('invalid_request', 'this request takes no body');
    return { value: undefined, bytes: NO_BYTES };
  }
  const { value, bytes } = await readJsonBody({ request, response, limitBytes, check });
  await parts.validators.check(route.body, value);
  return { value, bytes };
}

/**
 * Before a caller is refused, tells them if the token is in the body, which they can correct. Throws `invalid_request` then.
 * Only a small body with fields is read, if it arrives at once. A client that waits for `100 Continue` is not asked to send one.
 */
export async function refuseTokenOfStranger(
  parts: ContentParts,
  { request, response, match }: ContentOf,
): Promise<void> {
  if (!isApi(match.route) || !hasContent(request) || !hasFields(request) || contextOf(request).awaitsContinue) return;
  const reading = readBody(request, response, STRANGER_BYTES).catch(() => NO_BYTES); // too large, or it ended early
  const bytes = await within(reading, { ms: STRANGER_MS, late: NO_BYTES });
  await refuseTokenInBody(request, bytes, checkOf(parts, match.route, []));
}

const checkOf = ({ validators }: ContentParts, { body }: Route, tokens: BodyCheck['tokens']): BodyCheck => ({
  isOwn: async (name) => body !== undefined && (await validators.hasField(body, name)),
  tokens,
});
