// CORS: exact origins from the configuration, never with cookies. The lists of methods and headers are fixed, and nothing sent is
// reflected.
// The host's own origin needs no CORS. A WebSocket checks the Origin header itself and always accepts the host's own.
import type { IncomingMessage } from 'node:http';
import type { HttpSettings } from '../api/caller.ts';

const ALLOWED_METHODS = 'GET, HEAD, POST, PUT, DELETE';
const ALLOWED_HEADERS = 'authorization, last-event-id, content-type, idempotency-key, if-match';
const EXPOSED_HEADERS = 'etag, retry-after, svc-event-position, www-authenticate, x-request-id, idempotency-replayed';
const PREFLIGHT_SECONDS = '600';

const NONE: Readonly<Record<string, string>> = {};

/** Headers for an answer to this request's origin. */
export function corsHeaders(request: IncomingMessage, settings: HttpSettings): Readonly<Record<string, string>> {
  if (settings.corsOrigins.length === 0) return NONE;
  const { origin } = request.headers;
  if (origin === undefined || !settings.corsOrigins.includes(origin)) return { Vary: 'Origin' };
  return { Vary: 'Origin', 'Access-Control-Allow-Origin': origin, 'Access-Control-Expose-Headers': EXPOSED_HEADERS };
}

/** Headers for the answer to a preflight: the fixed lists for a listed origin, nothing for another. */
export function preflightHeaders(request: IncomingMessage, settings: HttpSettings): Readonly<Record<string, string>> {
  const headers = corsHeaders(request, settings);
  if (!('Access-Control-Allow-Origin' in headers)) return headers;
  return {
    ...headers,
    'Access-Control-Allow-Methods': ALLOWED_METHODS,
    'Access-Control-Allow-Headers': ALLOWED_HEADERS,
    'Access-Control-Max-Age': PREFLIGHT_SECONDS,
  };
}

/** True for an absent Origin, the host's own, or a listed one. */
export function isAllowedOrigin(request: IncomingMessage, settings: HttpSettings): boolean {
  const { origin, host } = request.headers;
  if (origin === undefined || origin === settings.publicOrigin || settings.corsOrigins.includes(origin)) return true;
  return host !== undefined && (origin === `http://${host}` || origin === `https://${host}`);
}
