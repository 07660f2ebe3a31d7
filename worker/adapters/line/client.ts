// Calls the Messaging API through LINE's own client. The first call loads the client, so a host without LINE accounts never loads it.
//
//   LINE-CLIENT-1  One call is one request. The host retries, and LINE's retry key makes that safe.
//   LINE-CLIENT-2  A call that certainly had no effect is answered with `later` for a rate limit, or `refused` with LINE's text. A call that may have
//                  had an effect throws. A rejected token throws `accountFailed`.
//   LINE-CLIENT-3  Two kinds of 429 exist. A rate limit is `later`, and that API endpoint is left alone until then. An exhausted monthly quota is
//                  `refused`, because waiting would take days. All sends are pushes, so a limit on pushes pauses the account. Parallel calls that are
//                  limited count as one in the backoff.
//   LINE-CLIENT-4  LINE's client accepts no AbortSignal. A call that takes too long, or whose connection ends, is abandoned without waiting for it.
import type { messagingApi } from '@line/bot-sdk';
import { accountFailed, type Link } from '../../sdk/index.ts';
import { askedWaitMs } from '../../sdk/platform/asked-wait.ts';
import { isObject, type Json, listAt, textAt } from '../../sdk/platform/foreign-json.ts';
import { safeJson } from '../../sdk/text/safe-json.ts';
import type { Account } from './config.ts';

type Api = messagingApi.MessagingApiClient;
type Caller = Pick<Link<Account>, 'account' | 'signal'>;

export type Answer<T> =
  | { readonly kind: 'ok'; readonly value: T }
  /** Status 409: an earlier attempt with the same retry key was accepted. */
  | { readonly kind: 'accepted'; readonly request: string; readonly json: Json }
  /** `isLimit` if LINE's own rate limit of this API endpoint applies. */
  | { readonly kind: 'later'; readonly afterMs: number; readonly isLimit: boolean }
  | { readonly kind: 'refused'; readonly status: number; readonly reason: string };

interface Known {
  api?: Promise<Api>;
  /** By API endpoint. */
  readonly paused: Map<string, Pause>;
}
/** Times are monotonic ms. */
interface Pause {
  readonly until: number;
  readonly waitMs: number;
  readonly since: number;
}
const accounts = new WeakMap<Account, Known>();

const TIME_LIMIT_MS = 30_000;
/** LINE names no wait. The wait doubles with each limited call in a row. */
const FIRST_WAIT_MS = 5_000;
const MOST_WAIT_MS = 300_000;

function knownOf(account: Account): Known {
  const known = accounts.get(account) ?? { paused: new Map() };
  accounts.set(account, known);
  return known;
}

async function apiOf({ channelAccessToken, apiUrl }: Account): Promise<Api> {
  const { messagingApi } = await import('@line/bot-sdk');
  return new messagingApi.MessagingApiClient({ channelAccessToken: channelAccessToken.reveal(), baseURL: apiUrl });
}

/** One call. `name` is the API endpoint, because LINE's limits apply to each endpoint. */
export async function call<T>(
  { account, signal }: Caller,
  name: string,
  run: (api: Api) => Promise<T>,
): Promise<Answer<T>> {
  const known = knownOf(account);
  const beganAt = performance.now();
  const leftMs = Math.ceil((known.paused.get(name)?.until ?? 0) - beganAt);
  if (leftMs > 0) return { kind: 'later', afterMs: leftMs, isLimit: true };
  known.api ??= apiOf(account);
  try {
    const value = await within(run(await known.api), signal);
    if (beganAt > (known.paused.get(name)?.since ?? 0)) known.paused.delete(name);
    return { kind: 'ok', value };
  } catch (error) {
    return failed(error, { name, beganAt }, known);
  }
}

/** The value of a call that must succeed. Throws otherwise. */
export async function need<T>(caller: Caller, name: string, run: (api: Api) => Promise<T>): Promise<T> {
  const answer = await call(caller, name, run);
  if (answer.kind === 'ok') return answer.value;
  throw new Error(answer.kind === 'refused' ? answer.reason : `${name}: LINE asks to wait`);
}

/** Rejects at the time limit or on abort. The call itself runs on, because LINE's client accepts no AbortSignal. */
async function within<T>(running: Promise<T>, signal: AbortSignal): Promise<T> {
  let giveUp = (_error: Error): void => {};
  const over = new Promise<never>((_resolve, reject) => {
    giveUp = reject;
  });
  const ended = (): void => giveUp(new Error('the connection ended'));
  const late = setTimeout(() => giveUp(new Error(`no answer of LINE in ${TIME_LIMIT_MS} ms`)), TIME_LIMIT_MS);
  signal.addEventListener('abort', ended, { once: true });
  if (signal.aborted) ended();
  try {
    return await Promise.race([running, over]);
  } finally {
    clearTimeout(late);
    signal.removeEventListener('abort', ended);
  }
}

interface Told {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
}

/** Recognizes the client's error for a status other than 2xx by its properties. */
const isTold = (error: unknown): error is Told =>
  error instanceof Error &&
  'status' in error &&
  typeof error.status === 'number' &&
  'body' in error &&
  typeof error.body === 'string' &&
  'headers' in error &&
  error.headers instanceof Headers;

interface Asked {
  readonly name: string;
  readonly beganAt: number;
}

/** Turns an error into an answer if the call certainly had no effect. Otherwise throws. */
function failed(error: unknown, asked: Asked, known: Known): Exclude<Answer<never>, { kind: 'ok' }> {
  const { name } = asked;
  if (!isTold(error)) throw new Error(`${name}: ${causeOf(error)}`, { cause: error });
  const { status, headers } = error;
  const json = jsonIn(error.body);
  const said = wordsOf(json);
  if (status === 401) throw refusedAccount(`LINE answered 401 to ${name}${said === '' ? '' : `: ${said}`}`);
  const accepted = headers.get('x-line-accepted-request-id');
  if (status === 409 && accepted !== null) return { kind: 'accepted', request: accepted, json };
  if (status >= 500 || status === 408 || status === 409)
    throw new Error(`${name}: LINE answered ${status} ${said}`.trim());
  if (status === 429 && !/monthly limit/i.test(said)) return slower({ ...asked, said, headers }, known);
  const hint = status === 429 ? ' (the quota of this month is used up: raise the plan, or replay when it is over)' : '';
  return { kind: 'refused', status, reason: `LINE answered ${status}: ${said || 'without a reason'}${hint}` };
}

/** Sets the backoff after a rate limit. Calls from before the last limit do not double it. */
function slower(
  { name, beganAt, said, headers }: Asked & { readonly said: string; readonly headers: Headers },
  { paused }: Known,
): Extract<Answer<never>, { kind: 'later' }> {
  const seconds = headers.get('retry-after') ?? '';
  const before = paused.get(name);
  const now = performance.now();
  const isSame = before !== undefined && beganAt <= before.since;
  const doubled = before === undefined ? FIRST_WAIT_MS : before.waitMs * (isSame ? 1 : 2);
  const waitMs = /^\d{1,9}$/.test(seconds) ? Number(seconds) * 1_000 : Math.min(MOST_WAIT_MS, doubled);
  // If the text does not name LINE's own limit, as from a proxy, only this call waits.
  const isLimit = /rate limit/i.test(said);
  paused.set(name, { until: isLimit ? now + askedWaitMs(waitMs) : 0, waitMs, since: now });
  return { kind: 'later', afterMs: waitMs, isLimit };
}

function jsonIn(text: string): Json {
  const json = safeJson(text);
  return isObject(json) ? json : {};
}

function wordsOf(json: Json): string {
  const details = listAt(json, 'details').map((one) =>
    [textAt(one, 'property'), textAt(one, 'message')].filter((part) => part !== undefined).join(': '),
  );
  return [textAt(json, 'message') ?? '', ...details]
    .filter((part) => part !== '')
    .join('; ')
    .slice(0, 500);
}

function causeOf(error: unknown): string {
  for (let at: unknown = error, depth = 0; at instanceof Error && depth < 5; depth += 1, at = at.cause)
    if ('code' in at && typeof at.code === 'string') return `LINE is not reached: ${at.code}`;
  if (error instanceof SyntaxError) return "the answer is not LINE's";
  return error instanceof Error ? error.message : 'no answer';
}

const refusedAccount = (reason: string): Error =>
  accountFailed(
    reason,
    'issue a channel access token (Messaging API tab of the channel), put it into .env and reload, or enable the account again',
  );
