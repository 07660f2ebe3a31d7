// Errors on the wire: application/problem+json (RFC 9457) with a stable code, the request's id and a remedy where there is one.
//
//   P1  Title and status come from the catalogue; a detail never echoes input, a path of the machine or a stack.
//   P2  What the host itself says (message, hint, details) goes to callers with full scope only; below 500 or as a named
//       503. What HTTP decided before the route ran is the same for everyone, and so is what a plugin says to whoever asks.
import { ERRORS, type ErrorCode } from '../../../shared/error-codes.ts';
import { coerceError, type SvcError } from '../../../shared/svc-error.ts';
import type { RequestContext } from '../request/request-context.ts';

export interface ProblemAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

export const PROBLEM_TYPE = 'application/problem+json';

/** The answer for anything that was thrown while a request was served. */
export function problemOf(thrown: unknown, context: RequestContext): ProblemAnswer {
  const error = coerceError(thrown);
  const { title, status } = ERRORS[error.code];
  const isOpen = !context.entered || context.caller?.scope === 'full' || error.forEveryone;
  const problem = {
    type: typeOf(error.code),
    title,
    status,
    code: error.code,
    requestId: context.requestId,
    ...(isOpen && status !== 500 ? openFields(error) : {}),
  };
  return { status, headers: headersOf(error, status), text: JSON.stringify(problem) };
}

/** A problem without a request: what a connection is told whose bytes are no request. */
export function bareProblem(code: ErrorCode, requestId: string): string {
  const { title, status } = ERRORS[code];
  return JSON.stringify({ type: typeOf(code), title, status, code, requestId });
}

const typeOf = (code: ErrorCode): string => `urn:svc:problem:${code}`;

function openFields(error: SvcError): Readonly<Record<string, unknown>> {
  const { allow: _allow, challenge: _challenge, retryAfterMs: _retry, ...details } = error.details;
  return {
    detail: error.message,
    ...(error.hint === undefined ? {} : { hint: error.hint }),
    ...(Object.keys(details).length === 0 ? {} : { details }),
  };
}

const DEFAULT_RETRY_MS = 5_000;

function headersOf({ details }: SvcError, status: number): Readonly<Record<string, string>> {
  const headers: Record<string, string> = {};
  if (typeof details.challenge === 'string') headers['WWW-Authenticate'] = details.challenge;
  if (Array.isArray(details.allow)) headers.Allow = details.allow.join(', ');
  if (status === 426) Object.assign(headers, { Upgrade: 'websocket', 'Sec-WebSocket-Version': '13' });
  const retryMs = details.retryAfterMs ?? (status === 429 || status === 503 ? DEFAULT_RETRY_MS : undefined);
  if (typeof retryMs === 'number') headers['Retry-After'] = String(Math.max(1, Math.ceil(retryMs / 1_000)));
  return headers;
}
