// Calls Discord's API through its client @discordjs/rest. The first call loads the client, so a host without Discord accounts never loads it.
//
//   DISCORD-CLIENT-1  One call is one request. The client knows the rate limit buckets of routes and the global limit. If the client would wait, no
//                     request is made and the answer is `later`. The host then waits and retries. A bucket limits one route in one channel, the
//                     global limit the whole account.
//   DISCORD-CLIENT-2  A call that certainly had no effect is answered with `later`, or with `refused` and Discord's text. A call that may have had an
//                     effect throws. A rejected token throws `accountFailed`.
//   DISCORD-CLIENT-3  Discord bans an IP address after 10,000 rejected requests in 10 minutes. At 8,000 this process stops asking until those minutes
//                     end.
//   DISCORD-CLIENT-4  No error contains the URL or body of a call. The URL may hold an interaction's token, the body a user's text.
import type { REST, RESTOptions, RouteLike } from '@discordjs/rest';
import { accountFailed, type Link } from '../../sdk/index.ts';
import { MOST_ASKED_WAIT_MS } from '../../sdk/platform/asked-wait.ts';
import { asObject, type Json } from '../../sdk/platform/foreign-json.ts';
import { callPlatform, type PlatformAnswer, type PlatformCall } from '../../sdk/platform/platform-call.ts';
import type { Account } from './config.ts';
import type { Form } from './form.ts';
import { IdleRoutes } from './idle-routes.ts';

export type Caller = Pick<Link<Account>, 'account'>;

export interface Call {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: RouteLike;
  readonly body?: Json | readonly Json[];
  readonly form?: Form;
  readonly query?: Readonly<Record<string, string>>;
  /** Send no bot token. Used if the URL holds a token of its own. */
  readonly anonymous?: true;
}

export type Answer =
  | { readonly kind: 'ok'; readonly json: unknown }
  | { readonly kind: 'later'; readonly afterMs: number; readonly account?: true }
  | { readonly kind: 'refused'; readonly status: number; readonly code: number | undefined; readonly reason: string };

const TIME_LIMIT_MS = 50_000;
const DEFAULT_WAIT_MS = 5_000;
const CLOCK_STEP_MS = 1_000;
const INVALID_STEP = 500;
const MOST_INVALID = 8_000;

const REMEDY =
  'make a new token (Developer Portal, Bot, Reset Token), put it into .env and reload, or enable the account again';

interface Client {
  readonly rest: REST;
  readonly idle: IdleRoutes;
}

interface Known {
  readonly client: Promise<Client>;
  /** Difference between the wall clock and the monotonic clock when the client was made. */
  readonly offsetMs: number;
}
const clients = new WeakMap<Account, Known>();

/** Monotonic ms. Process-wide, not per account, because Discord bans the IP address after too many rejected requests. */
let quietUntil = 0;

/** One client per account. Its buckets follow the wall clock, so a clock set back would keep buckets closed. A new client is made then. */
function clientOf(account: Account): Promise<Client> {
  let known = clients.get(account);
  if (known === undefined || known.offsetMs - wallOffsetMs() > CLOCK_STEP_MS) {
    known = { client: makeClient(account), offsetMs: wallOffsetMs() };
    clients.set(account, known);
  }
  return known.client;
}

const wallOffsetMs = (): number => Date.now() - performance.now();

async function makeClient({ token, apiUrl }: Account): Promise<Client> {
  const { REST, RESTEvents } = await import('@discordjs/rest');
  const rest = new REST({
    api: apiUrl,
    version: '10',
    retries: 0,
    offset: 0,
    timeout: TIME_LIMIT_MS,
    rejectOnRateLimit: () => true,
    handlerSweepInterval: 0, // the timer is off, because IdleRoutes removes unused routes before each call
    hashSweepInterval: 0, // at most one entry for each kind of route
    invalidRequestWarningInterval: INVALID_STEP,
    makeRequest: callDiscord as unknown as RESTOptions['makeRequest'],
  }).setToken(token.reveal());
  rest.on(RESTEvents.InvalidRequestWarning, ({ count, remainingTime }) => {
    if (count >= MOST_INVALID) quietUntil = performance.now() + remainingTime;
  });
  return { rest, idle: new IdleRoutes(rest) };
}

interface Request extends Omit<PlatformCall, 'body'> {
  readonly body?: PlatformCall['body'] | null;
}

/** Sends the token to the configured API only, never to a URL taken from a response. */
async function callDiscord(url: string, { method, headers = {}, body, signal }: Request): Promise<PlatformAnswer> {
  const answer = await callPlatform(url, { method, headers, body: body ?? undefined, signal });
  if (answer.status >= 300 && answer.status < 400) throw new Error(`Discord answered ${answer.status}`);
  return answer;
}

export async function call({ account }: Caller, { method, path, ...more }: Call): Promise<Answer> {
  const { rest, idle } = await clientOf(account);
  const quietMs = quietUntil - performance.now();
  if (quietMs > 0) return { kind: 'later', afterMs: quietMs, account: true };
  idle.forget();
  try {
    const json = await rest.request({
      method: method as never,
      fullRoute: path,
      auth: more.anonymous !== true,
      ...(more.body === undefined ? {} : { body: more.body }),
      ...(more.form === undefined ? {} : { body: more.form, passThroughBody: true, headers: { ...more.form.headers } }),
      ...(more.query === undefined ? {} : { query: new URLSearchParams(more.query) }),
    });
    return { kind: 'ok', json };
  } catch (error) {
    const answer = failed(error, `${method} ${safePath(path)}`);
    // The client would refuse calls for that long without asking. A new one asks Discord.
    if (answer.kind === 'later' && answer.afterMs > MOST_ASKED_WAIT_MS) clients.delete(account);
    if (answer.kind !== 'refused' || answer.status !== 401 || more.anonymous === true) return answer;
    clients.delete(account); // the client drops its token after a 401
    throw accountFailed(`Discord refuses the token: ${answer.reason}`, REMEDY);
  }
}

/** The response to a call that must succeed. Throws otherwise. */
export async function need(caller: Caller, request: Call): Promise<unknown> {
  const answer = await call(caller, request);
  if (answer.kind === 'ok') return answer.json;
  const what = `${request.method} ${safePath(request.path)}`;
  throw new Error(
    answer.kind === 'later' ? `${what}: Discord asks to wait ${answer.afterMs} ms` : `${what}: ${answer.reason}`,
  );
}

/** Hides the token of an interaction or webhook, and the query, because this path appears in errors. */
const safePath = (path: string): string =>
  path.replace(/^(\/(?:interactions|webhooks)\/\d+\/)[^/]+/, '$1…').replace(/\?.*$/s, '');

/**
 * Turns an error of the client into `later` or `refused` if the call certainly had no effect. The client's errors differ only in their properties.
 */
function failed(thrown: unknown, what: string): Answer {
  const error = asObject(thrown);
  if ('timeToReset' in error && 'sublimitTimeout' in error) {
    const waits = ['retryAfter', 'sublimitTimeout', 'timeToReset'].map((key) => Number(error[key]));
    const afterMs = Math.ceil(Math.max(0, ...waits.filter(Number.isFinite)));
    const whose = error['global'] === true ? ({ account: true } as const) : {};
    return { kind: 'later', afterMs: afterMs > 0 ? afterMs : DEFAULT_WAIT_MS, ...whose };
  }
  const { status } = error;
  if (typeof status !== 'number') throw new Error(`${what}: Discord is not reached: ${networkCode(thrown)}`);
  if (status >= 500 || status === 408) throw new Error(`${what}: Discord answered ${status}`);
  const code = typeof error['code'] === 'number' ? error['code'] : undefined;
  const words = 'rawError' in error && thrown instanceof Error ? thrown.message.replace(/\s+/g, ' ').slice(0, 300) : '';
  const reason = `Discord answered ${status}${code === undefined ? '' : ` (${code})`}${words === '' ? '' : `: ${words}`}`;
  return { kind: 'refused', status, code, reason };
}

function networkCode(error: unknown): string {
  for (let at: unknown = error, depth = 0; at instanceof Error && depth < 5; depth += 1) {
    if ('code' in at && typeof at.code === 'string') return at.code;
    if (at.name === 'AbortError' || at.name === 'TimeoutError') return at.name;
    at = at.cause;
  }
  return 'network error';
}
