// Calls an implementation's HTTP API: POST /<action> with JSON.

import type { Link } from '../../../sdk/index.ts';
import { withLimit } from '../../../sdk/platform/limited-signal.ts';
import { callPlatform } from '../../../sdk/platform/platform-call.ts';
import { safeJson } from '../../../sdk/text/safe-json.ts';
import type { Account } from '../config.ts';
import { type Answer, readAnswer, readStatus } from './answer.ts';

const TIME_LIMIT_MS = 50_000;
const MOST_ANSWER_BYTES = 64 * 1_048_576;

export interface HttpCall {
  readonly action: string;
  readonly params: object;
  /** Undefined: no token is sent. */
  readonly token: string | undefined;
  readonly limitMs?: number;
}

/** One call. Redirects are not followed, because they would take the token elsewhere. */
export async function httpCall(
  { account, signal }: Pick<Link<Account>, 'account' | 'signal'>,
  { action, params, token, limitMs = TIME_LIMIT_MS }: HttpCall,
): Promise<Answer> {
  const address = new URL(account.url ?? '');
  address.pathname = `${address.pathname.replace(/\/$/, '')}/${action}`;
  const asked = {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    },
    body: JSON.stringify(params),
    mostBytes: MOST_ANSWER_BYTES,
  };
  const response = await withLimit(signal, limitMs, (limited) =>
    callPlatform(address, { ...asked, signal: limited }),
  ).catch((error: unknown) => {
    throw new Error(`${action}: ${networkCode(error)}`);
  });
  if (response.status !== 200) return readStatus(action, response.status, response.headers.get('retry-after'));
  return readAnswer(action, safeJson(await response.text()));
}

/** Only the code, because a message may contain the address. */
function networkCode(error: unknown): string {
  for (let at: unknown = error, depth = 0; at instanceof Error && depth < 5; depth += 1, at = at.cause) {
    if ('code' in at && typeof at.code === 'string') return at.code;
    if (at.name === 'AbortError' || at.name === 'TimeoutError') return at.name;
  }
  return 'network error';
}
