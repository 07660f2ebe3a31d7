// Calls of Slack's Web API through Slack's own client. The client is loaded at the first call, so other hosts never load the package.
//
//   SLACK-CLIENT-1  One call is one request. The client's own retries are off, because the host retries.
//   SLACK-CLIENT-2  A call that certainly had no effect is answered: `later` for a rate limit, `refused` with Slack's error.
//                   A call that may have had an effect throws. A refused token throws `accountFailed`, which stops the account.
//   SLACK-CLIENT-3  The client writes no log of its own. A call is aborted when the account's connection ends.
import type { FetchFunction, WebClient, WebClientOptions } from '@slack/web-api';
import { accountFailed, type Link, type Secret } from '../../sdk/index.ts';
import { isObject, type Json, objectAt, textAt } from '../../sdk/platform/foreign-json.ts';
import { limitedSignal } from '../../sdk/platform/limited-signal.ts';
import type { Account } from './config.ts';

export interface Caller extends Pick<Link<Account>, 'account' | 'signal'> {
  /** Default: the bot token. */
  readonly token?: Secret;
}

export type Answer =
  | { readonly kind: 'ok'; readonly json: Json }
  | { readonly kind: 'later'; readonly afterMs: number }
  | { readonly kind: 'refused'; readonly error: string; readonly reason: string };

const TIME_LIMIT_MS = 30_000;
/** The client ends its own call before this time. */
const LEFT_ALONE_MS = TIME_LIMIT_MS + 1_000;
const DEFAULT_WAIT_SECONDS = 5;

/** Errors of the account itself. Slack's own Socket Mode client gives up at these too. */
const ACCOUNT_ERRORS = new Set([
  'account_inactive',
  'invalid_auth',
  'not_authed',
  'not_allowed_token_type',
  'team_disabled',
  'token_expired',
  'token_revoked',
  'user_removed_from_team',
]);
/** Slack's internal errors: the call may have had an effect. A migration of the workspace to an organisation is temporary. */
const TROUBLE = new Set([
  'fatal_error',
  'internal_error',
  'org_login_required',
  'request_timeout',
  'service_unavailable',
  'team_added_to_org',
]);
/** Explanations for errors whose name gives no advice. */
const MEANINGS: Readonly<Record<string, string>> = {
  channel_not_found: 'there is none of this id, or it is private and the bot is not in it',
  not_in_channel: 'invite the bot, or give the app the scope chat:write.public',
};
const BUSY = new Set(['message_limit_exceeded', 'rate_limited', 'ratelimited']);

const BOT_REMEDY =
  'install the app in its workspace again, put its token into .env and reload, or enable the account again';
const APP_REMEDY =
  'make a token with connections:write (Basic Information, App-Level Tokens), put it into .env (appToken) and reload, or enable the account again';

interface Called {
  readonly method: string;
  /** Advice for a refused token. */
  readonly remedy: string;
}

const silent = (): void => {};
const LOGGER = {
  debug: silent,
  info: silent,
  warn: silent,
  error: silent,
  setLevel: silent,
  setName: silent,
  getLevel: () => 'error',
} as unknown as NonNullable<WebClientOptions['logger']>;

export async function call(caller: Caller, method: string, args: Readonly<Record<string, unknown>>): Promise<Answer> {
  const { WebClient } = await import('@slack/web-api');
  const client: WebClient = new WebClient((caller.token ?? caller.account.token).reveal(), {
    slackApiUrl: caller.account.apiUrl,
    retryConfig: { retries: 0 },
    rejectRateLimitedCalls: true,
    allowAbsoluteUrls: false,
    timeout: TIME_LIMIT_MS,
    logger: LOGGER,
    fetch: fetchFor(caller.signal),
  });
  try {
    const result: unknown = await client.apiCall(method, { ...args });
    return { kind: 'ok', json: isObject(result) ? result : {} };
  } catch (error) {
    const remedy = caller.token === undefined ? BOT_REMEDY : APP_REMEDY;
    return failed({ method, remedy }, isObject(error) ? error : {}, error);
  }
}

/** Ends the request with the connection. A 429 without Retry-After gets a default, else the client would not see a rate limit. */
const fetchFor =
  (ended: AbortSignal): FetchFunction =>
  async (url, init) => {
    const { signal, ...rest } = (init ?? {}) as RequestInit;
    const response = await fetch(url, { ...rest, signal: limitedSignal(ended, LEFT_ALONE_MS, signal) });
    if (response.status !== 429 || /^\d/.test(response.headers.get('retry-after') ?? '')) return response;
    await response.body?.cancel();
    return new Response(null, { status: 429, headers: { 'retry-after': String(DEFAULT_WAIT_SECONDS) } });
  };

/** Maps the client's error codes to an answer or an error. */
function failed({ method, remedy }: Called, error: Json, thrown: unknown): Answer {
  switch (error['code']) {
    case 'slack_webapi_rate_limited_error':
      return { kind: 'later', afterMs: Number(error['retryAfter']) * 1_000 };
    case 'slack_webapi_http_error':
      return httpFailed({ method, remedy }, Number(error['statusCode']));
    case 'slack_webapi_platform_error':
      return platformFailed({ method, remedy }, objectAt(error, 'data'));
    case 'slack_webapi_request_error':
      throw new Error(`${method}: ${causeOf(error)}`, { cause: thrown });
    default:
      throw thrown;
  }
}

function causeOf(error: Json): string {
  const original = objectAt(error, 'original');
  const cause = objectAt(original, 'cause');
  return textAt(cause, 'code') ?? textAt(cause, 'message') ?? textAt(original, 'message') ?? 'no answer';
}

function httpFailed({ method, remedy }: Called, status: number): Answer {
  if (status === 401 || status === 403) throw accountFailed(`Slack answered ${status} to ${method}`, remedy);
  if (status >= 500 || status === 408) throw new Error(`${method}: Slack answered ${status}`);
  return { kind: 'refused', error: `http_${status}`, reason: `Slack answered ${status} to ${method}` };
}

function platformFailed({ method, remedy }: Called, data: Json): Answer {
  const error = textAt(data, 'error') ?? '';
  if (ACCOUNT_ERRORS.has(error)) throw accountFailed(`Slack answered ${error} to ${method}`, remedy);
  if (BUSY.has(error)) {
    const { retryAfter } = objectAt(data, 'response_metadata');
    return { kind: 'later', afterMs: (typeof retryAfter === 'number' ? retryAfter : DEFAULT_WAIT_SECONDS) * 1_000 };
  }
  if (TROUBLE.has(error)) throw new Error(`${method}: ${error}`);
  // An error outside Slack's syntax is from a proxy.
  if (!/^[\w.:-]{1,100}$/.test(error)) throw new Error(`${method}: the answer is not Slack's`);
  const needed = textAt(data, 'needed');
  const words = needed === undefined ? MEANINGS[error] : `the app needs the scope ${needed}`;
  return { kind: 'refused', error, reason: `Slack: ${error}${words === undefined ? '' : `: ${words}`}` };
}

/** Whether an address belongs to Slack. The token and files go to no other address. */
export function isPlatformAddress(address: string, apiUrl: string): boolean {
  const api = new URL(apiUrl);
  try {
    const { origin, protocol, hostname } = new URL(address);
    return origin === api.origin || (protocol === 'https:' && hostname.endsWith(`.${api.hostname}`));
  } catch {
    return false;
  }
}
