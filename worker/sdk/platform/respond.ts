// Translates HTTP responses of a platform, for adapters.
import type { Static, TSchema } from 'typebox';
import type { SendResult } from '../adapter.ts';
import { accountFailed } from '../errors.ts';
import { parse } from '../schema/check.ts';

/** The members of `Response` that this file reads. */
export interface Answered extends Pick<Response, 'json' | 'ok' | 'status'> {
  readonly headers: Pick<Headers, 'get'>;
}

const DEFAULT_RETRY_MS = 5_000;

/**
 * The result of a send by its status: 2xx is `sent`, and `message` reads the platform's id from the body. 429 and 5xx are `later`, by Retry-After;
 * 429 holds the whole account. Any other status is `refused`. Throws `accountFailed` for 401 and 403.
 */
export async function sendResult(response: Answered, message?: (json: unknown) => string): Promise<SendResult> {
  if (isAccountRefused(response)) throw refusedAccount(response.status);
  if (response.status === 429) return { kind: 'later', afterMs: retryAfterMs(response), account: true };
  if (response.status >= 500) return { kind: 'later', afterMs: retryAfterMs(response) };
  if (!response.ok) return { kind: 'refused', reason: `the platform answered ${response.status}` };
  return message === undefined || response.status === 204
    ? { kind: 'sent' }
    : { kind: 'sent', ...(await readId(response, message)) };
}

// The platform has taken the message. A body that cannot be read costs the message's id, but must not cause a resend.
async function readId(response: Answered, message: (json: unknown) => string): Promise<{ message?: string }> {
  try {
    return { message: message(await response.json()) };
  } catch {
    return {};
  }
}

/** The checked body of a 2xx response. Throws `accountFailed` for 401 and 403, and an error with code `http_<status>` for other statuses. */
export async function readJson<S extends TSchema>(response: Answered, schema: S): Promise<Static<S>> {
  if (isAccountRefused(response)) throw refusedAccount(response.status);
  if (!response.ok)
    throw Object.assign(new Error(`the platform answered ${response.status}`), { code: `http_${response.status}` });
  return parse(schema, await response.json());
}

const isAccountRefused = ({ status }: Answered): boolean => status === 401 || status === 403;
const refusedAccount = (status: number): Error =>
  accountFailed(`the platform answered ${status}`, 'renew the token in .env and reload');

/** Milliseconds of Retry-After, which holds seconds or a date (RFC 9110). */
function retryAfterMs(response: Answered): number {
  const header = response.headers.get('retry-after');
  if (header === null) return DEFAULT_RETRY_MS;
  if (/^\d{1,9}(?:\.\d+)?$/.test(header)) return Math.ceil(Number(header) * 1_000);
  const told = Date.parse(response.headers.get('date') ?? '');
  const waitMs = Date.parse(header) - (Number.isNaN(told) ? Date.now() : told); // measured by the platform's clock: ours may be wrong
  return Number.isFinite(waitMs) ? Math.max(0, waitMs) : DEFAULT_RETRY_MS;
}
