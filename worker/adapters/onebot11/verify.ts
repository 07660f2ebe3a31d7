// Authenticates deliveries by the platform's own rules: HMAC-SHA1 over the raw body for HTTP, the access token for a WebSocket. Pure.
//
//   ONEBOT11-VERIFY-1  The signature must be `sha1=` and 40 hexadecimal digits. Every secret and every token is compared in constant time.
//   ONEBOT11-VERIFY-2  The token is in the header Authorization (`Bearer`, or `Token` in older implementations). The token may also be the query
//                      parameter `access_token`, for implementations that cannot send headers. If both are present, both must be valid.
//   ONEBOT11-VERIFY-3  A WebSocket of another bot, or with an unknown role, is refused with 403.
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { RawRequest, Secret, Verdict } from '../../sdk/index.ts';
import type { Account } from './config.ts';

export type Role = 'universal' | 'api' | 'event';

const refused = (reason: string): Verdict => ({ kind: 'refused', reason });

/** Checks the signature of an HTTP delivery against every secret in constant time. */
export function verify(request: RawRequest, { mode, secrets }: Pick<Account, 'mode' | 'secrets'>): Verdict {
  if (mode !== 'http') return refused('this account is not set to mode http');
  const header = request.headers['x-signature'];
  if (header === undefined) return refused('no x-signature');
  const [, digits] = /^sha1=([0-9a-f]{40})$/i.exec(header) ?? [];
  if (digits === undefined) return refused('malformed signature');
  const given = Buffer.from(digits, 'hex');
  let matches = 0;
  for (const secret of secrets) {
    const key = secret.reveal();
    const wanted = createHmac('sha1', key).update(request.body).digest();
    matches += Number(timingSafeEqual(given, wanted)) * Number(key !== '');
  }
  return matches > 0 ? { kind: 'ok' } : refused('wrong signature');
}

/** Checks a WebSocket's opening request: token, bot and role. */
export function verifySocket(
  { headers, query }: RawRequest,
  { accessTokens, selfId }: Pick<Account, 'accessTokens' | 'selfId'>,
): Verdict {
  const { authorization } = headers;
  const inHeader =
    authorization === undefined ? undefined : (/^(?:bearer|token) +(\S+)$/i.exec(authorization)?.[1] ?? '');
  const given = [inHeader, query['access_token']].filter((token) => token !== undefined);
  if (given.length === 0) return refused('no access token');
  if (!given.every((token) => isOneOf(token, accessTokens))) return refused('wrong access token');
  const self = headers['x-self-id'];
  if (selfId !== undefined && self !== undefined && self !== selfId)
    return { kind: 'refused', reason: `the bot ${self.slice(0, 20)} is not the one of this account`, status: 403 };
  if (roleOf(headers) === undefined) return { kind: 'refused', reason: 'unknown x-client-role', status: 403 };
  return { kind: 'ok' };
}

/** The role of a WebSocket. Without a header it serves both calls and events. */
export function roleOf(headers: RawRequest['headers']): Role | undefined {
  switch (headers['x-client-role']?.toLowerCase()) {
    case undefined:
    case 'universal':
      return 'universal';
    case 'api':
      return 'api';
    case 'event':
      return 'event';
    default:
      return undefined;
  }
}

function isOneOf(token: string, secrets: readonly Secret[]): boolean {
  const given = digestOf(token);
  let matches = 0;
  for (const secret of secrets) {
    const text = secret.reveal();
    matches += Number(timingSafeEqual(given, digestOf(text))) * Number(text !== '');
  }
  return matches > 0;
}

const digestOf = (text: string): Buffer => createHash('sha256').update(text).digest();
