// Errors on the wire: application/problem+json (RFC 9457) with a stable code, the request id and, if known, a remedy.
//
//   PROBLEM-1  Title and status come from the catalogue of errors. A detail never contains input, a file path or a stack.
//   PROBLEM-2  Message, hint and details of the host go to callers with full scope only, and never with status 500. Errors from before the
//              route ran, and errors that a plugin addresses to everyone, are the same for all callers.
import { ERRORS, type ErrorCode } from '../../../shared/error-codes.ts';
import { coerceError, type SvcError } from '../../../shared/svc-error.ts';
import type { RequestContext } from '../request/request-context.ts';

export interface ProblemAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

export const PROBLEM_TYPE = 'application/problem+json';

/** The answer for a value thrown while a request was served. */
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

/** A problem document for bytes that are no request. */
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
