// The meaning of an implementation's answer to a call. Pure.
//
//   retcode (HTTP status)    | meaning
//   0 `ok`                   | done, with its data
//   1 `async`                | accepted, and the outcome is never reported: done, without data. 1 `failed` (Lagrange) is a refusal
//   1401, 1403 (401, 403)    | the token is rejected: the account fails
//   1404, 404 (404)          | no such action. 404 comes from Lagrange and go-cqhttp, NapCat answers over HTTP with a text only
//   1400 (400, 406)          | refused: the call is malformed
//   (429)                    | later
//   (5xx), no answer         | the outcome is unknown: throws
//   any other, `failed`      | refused, with the implementation's text. If the text reports an internal timeout, the outcome is unknown: throws

import { accountFailed } from '../../../sdk/index.ts';
import { isObject, type Json, textAt } from '../../../sdk/platform/foreign-json.ts';

export type Answer =
  | { readonly kind: 'ok'; readonly data: unknown }
  | { readonly kind: 'later'; readonly afterMs: number }
  | { readonly kind: 'refused'; readonly reason: string; readonly isMissing?: true };

const MISSING: ReadonlySet<unknown> = new Set([1404, 404]);
const MISSING_WORDS = /不支持的 ?api|API_NOT_FOUND/i;
const DEFAULT_WAIT_MS = 5_000;
const MOST_REASON = 300;

/** Throws if the outcome is unknown. Throws `accountFailed` for a rejected token. */
export function readAnswer(action: string, answer: unknown): Answer {
  if (!isObject(answer)) throw new Error(`${action}: the answer is none of OneBot`);
  const { status, retcode } = answer;
  const isTaken = status === 'async' || (retcode === 1 && status !== 'failed');
  if (retcode === 0 || isTaken || status === 'ok') return { kind: 'ok', data: isTaken ? null : answer['data'] };
  if (retcode === 1401 || retcode === 1403) throw refusedToken(`${action} was answered with ${retcode}`);
  const words = wordsOf(answer);
  if (MISSING.has(retcode) || MISSING_WORDS.test(words)) return missing(action);
  if (/time ?out|timed out|超时/i.test(words)) throw new Error(`${action}: ${words}`);
  return { kind: 'refused', reason: `${action}: ${words === '' ? `failed with ${String(retcode)}` : words}` };
}

/** For an HTTP status other than 200. */
export function readStatus(action: string, status: number, retryAfter: string | null): Answer {
  if (status === 401 || status === 403) throw refusedToken(`${action} was answered with ${status}`);
  if (status === 404) return missing(action);
  if (status === 429)
    return {
      kind: 'later',
      afterMs: /^\d{1,9}$/.test(retryAfter ?? '') ? Number(retryAfter) * 1_000 : DEFAULT_WAIT_MS,
    };
  if (status >= 500 || status === 408) throw new Error(`${action}: the implementation answered ${status}`);
  return { kind: 'refused', reason: `the implementation answered ${status} to ${action}` };
}

export const refusedToken = (reason: string): Error =>
  accountFailed(
    `the access token is refused: ${reason}`,
    'put the access token of the implementation into .env (accessTokens) and reload, or enable the account again',
  );

const missing = (action: string): Answer => ({
  kind: 'refused',
  reason: `the implementation has no ${action}`,
  isMissing: true,
});

/** The answer's error text, on one line. */
const wordsOf = (answer: Json): string =>
  (textAt(answer, 'wording') ?? textAt(answer, 'message') ?? textAt(answer, 'msg') ?? '')
    .replace(/\s+/g, ' ')
    .slice(0, MOST_REASON);
