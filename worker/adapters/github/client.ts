// GitHub's API through its own client, and the meaning of its responses for a send.
//
//   GITHUB-CLIENT-1  The first call loads the client, so a start without GitHub accounts never loads it. Each account has its own.
//   GITHUB-CLIENT-2  401 fails the account, and so does 403 for a suspended one. A rate limit (429, or 403 with a limit's headers or text) is
//                    `later`: after Retry-After, else x-ratelimit-reset, else a minute. Other 4xx are refused with GitHub's reason. 5xx and broken
//                    connections throw, because the outcome is unknown.
//   GITHUB-CLIENT-3  A spent limit applies to the whole account, not to one conversation. No call is made until it resets, because GitHub bans
//                    clients that continue.
//   GITHUB-CLIENT-4  A redirect, as for a renamed repository, repeats the same request at the new URL. Plain fetch would turn a POST into a GET. The
//                    token goes to no other host.
import type { Octokit } from '@octokit/core';
import { accountFailed, type Link, type SendResult } from '../../sdk/index.ts';
import { askedWaitMs } from '../../sdk/platform/asked-wait.ts';
import { withLimit } from '../../sdk/platform/limited-signal.ts';
import type { Account } from './config.ts';

export type GithubLink = Pick<Link<Account>, 'account' | 'signal' | 'log'>;

const TIME_LIMIT_MS = 15_000;
/** GitHub's documented wait if a rate limit names no time. */
const SECONDARY_WAIT_MS = 60_000;
const VERSION = '2022-11-28';

interface Known {
  client?: Octokit;
  /** Monotonic ms, so a change of the wall clock does not prolong the pause. */
  pausedUntil?: number;
}
const accounts = new WeakMap<Account, Known>();

function knownOf(account: Account): Known {
  const known = accounts.get(account) ?? {};
  accounts.set(account, known);
  return known;
}

/** A call is aborted at the end of the account's connection, or after a time limit. */
export interface Api {
  readonly request: Octokit['request'];
  readonly graphql: Octokit['graphql'];
}

/** Runs calls within the time limit and the lifetime of the connection. */
const within = <T>(link: GithubLink, run: (api: Api) => Promise<T>): Promise<T> =>
  withLimit(link.signal, TIME_LIMIT_MS, async (signal) => run(await apiOf({ ...link, signal })));

async function apiOf({ account, signal, log }: GithubLink): Promise<Api> {
  const known = knownOf(account);
  if (known.client === undefined) {
    const { Octokit } = await import('@octokit/core');
    const told = (text: unknown): void => log.warn(String(text));
    const silent = { debug: () => {}, info: () => {}, warn: told, error: told };
    known.client = new Octokit({
      auth: account.token.reveal(),
      baseUrl: account.apiUrl.replace(/\/$/, ''),
      userAgent: 'svc',
      log: silent,
      request: { log: silent, fetch: fetchMoved },
    });
  }
  const { client } = known;
  const defaults = {
    headers: { 'x-github-api-version': VERSION },
    request: { signal },
  };
  return { request: client.request.defaults(defaults), graphql: client.graphql.defaults(defaults) };
}

const MOST_MOVES = 3;
const MOVED: ReadonlySet<number> = new Set([301, 302, 307, 308]);
/** HTTP 421 Misdirected Request: a status that counts as refused, never as done. */
const ELSEWHERE = 421;

/** Repeats the same request after a redirect on the same host. Plain fetch would turn a POST into a GET. */
async function fetchMoved(url: string, init: RequestInit): Promise<Response> {
  let at = url;
  for (let moves = 0; moves <= MOST_MOVES; moves++) {
    const response = await fetch(at, { ...init, redirect: 'manual' });
    const location = response.headers.get('location');
    if (location === null || !MOVED.has(response.status)) return response;
    await response.body?.cancel();
    const next = new URL(location, at);
    if (next.origin !== new URL(at).origin) break;
    at = next.href;
  }
  return Response.json({ message: 'it has moved, and where to is not followed' }, { status: ELSEWHERE });
}

/** Remaining ms of a spent rate limit. No call may be made meanwhile. */
const pauseOf = ({ pausedUntil = 0 }: Known): number => Math.max(0, pausedUntil - performance.now());

/** Performs one send. `run` makes the calls, and a failed response becomes the send's result. */
export async function sendBy(link: GithubLink, run: (api: Api) => Promise<SendResult>): Promise<SendResult> {
  const known = knownOf(link.account);
  const leftMs = pauseOf(known);
  if (leftMs > 0) return { kind: 'later', afterMs: leftMs, account: true };
  try {
    return await within(link, run);
  } catch (error) {
    return resultOf(answerIn(error), known);
  }
}

/** Code of errors that mean a permanent refusal. */
const REFUSED = 'github_refused';
export const isRefusal = (error: unknown): boolean => (error as { readonly code?: unknown }).code === REFUSED;

/**
 * For calls other than sends. Throws `accountFailed` on 401, otherwise an error with GitHub's reason. A permanent refusal has the code
 * `github_refused`.
 */
export async function callBy<T>(link: GithubLink, run: (api: Api) => Promise<T>): Promise<T> {
  const known = knownOf(link.account);
  if (pauseOf(known) > 0)
    throw new Error(`the limit of this account is spent for ${Math.ceil(pauseOf(known) / 1_000)} s`);
  try {
    return await within(link, run);
  } catch (error) {
    const answer = answerIn(error);
    if (isAccountRefused(answer)) throw refusedAccount(answer);
    const told = new Error(reasonOf(answer), { cause: error });
    const waitMs = waitOf(answer);
    if (waitMs !== undefined) pause(known, answer, waitMs);
    const isFinal = answer.status !== undefined && answer.status < 500 && waitMs === undefined;
    throw isFinal ? Object.assign(told, { code: REFUSED }) : told;
  }
}

interface Answer {
  readonly error: unknown;
  /** Undefined if no response arrived. */
  readonly status: number | undefined;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly message: string;
}

function answerIn(error: unknown): Answer {
  const { response, message, headers, errors } = error as {
    readonly response?: { readonly status?: number; readonly headers?: Answer['headers'] };
    readonly message?: string;
    readonly headers?: Answer['headers'];
    readonly errors?: readonly { readonly type?: string }[];
  };
  const text = String(message ?? error);
  // GraphQL reports refusals with status 200. An error without a type is an internal fault of GitHub.
  const type = Array.isArray(errors) ? (errors as readonly { readonly type?: string }[])[0]?.type : undefined;
  if (type !== undefined)
    return { error, status: type === 'RATE_LIMITED' ? 429 : 422, headers: headers ?? {}, message: text };
  return { error, status: response?.status, headers: response?.headers ?? {}, message: text };
}

function resultOf(answer: Answer, known: Known): SendResult {
  const { status, error } = answer;
  if (status === undefined || status >= 500 || status < 400) throw error;
  if (isAccountRefused(answer)) throw refusedAccount(answer);
  const waitMs = waitOf(answer);
  if (waitMs === undefined) return { kind: 'refused', reason: reasonOf(answer) };
  pause(known, answer, waitMs);
  return { kind: 'later', afterMs: waitMs, ...(isAccountWide(answer) ? { account: true } : {}) };
}

function pause(known: Known, answer: Answer, waitMs: number): void {
  if (isAccountWide(answer)) known.pausedUntil = performance.now() + askedWaitMs(waitMs);
}

/** Matches GitHub's texts for a suspended app installation and for a suspended user. */
const isSuspended = ({ status, message }: Answer): boolean => status === 403 && /\bsuspended\b/i.test(message);
const isAccountRefused = (answer: Answer): boolean => answer.status === 401 || isSuspended(answer);

const refusedAccount = (answer: Answer): Error =>
  accountFailed(
    reasonOf(answer),
    isSuspended(answer)
      ? 'have the suspension ended at GitHub (of an app: Settings, Applications, Unsuspend), then enable the account again'
      : 'make a new token at GitHub, put it into .env and reload',
  );
const reasonOf = ({ status, message }: Answer): string => `GitHub answered ${status ?? 'nothing'}: ${message}`;

const isSpent = ({ headers }: Answer): boolean => headers['x-ratelimit-remaining'] === '0';
/** Texts of GitHub's secondary rate limits, including those of older GitHub Enterprise servers. */
const LIMITED = /rate limit|abuse detection|temporarily blocked|submitted too quickly/i;
const isAccountWide = (answer: Answer): boolean => isSpent(answer) || LIMITED.test(answer.message);

/** Wait in ms. Undefined if the response is not about a rate limit. */
function waitOf(answer: Answer): number | undefined {
  const { status, headers } = answer;
  if (status !== 429 && status !== 403 && !(status === 422 && LIMITED.test(answer.message))) return undefined;
  const after = headers['retry-after'];
  if (after !== undefined && /^\d{1,9}$/.test(after)) return Number(after) * 1_000;
  const reset = headers['x-ratelimit-reset'];
  if (isSpent(answer) && reset !== undefined && /^\d{1,12}$/.test(reset))
    return Math.max(1_000, Number(reset) * 1_000 - toldAt(headers['date']));
  return status === 429 || isAccountWide(answer) ? SECONDARY_WAIT_MS : undefined;
}

/** The time on GitHub's clock, because the local clock may be wrong. */
const toldAt = (date: string | undefined): number => {
  const at = Date.parse(date ?? '');
  return Number.isNaN(at) ? Date.now() : at;
};
