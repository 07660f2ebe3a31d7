// Verifies Slack's signature: HMAC-SHA256 over `v0:<timestamp>:<raw body>`, in hexadecimal after `v0=`. Pure.
//
//   SLACK-VERIFY-1  Header and timestamp are parsed strictly. Every secret is compared in constant time (`verifyHmac`).
//   SLACK-VERIFY-2  A timestamp more than five minutes from the time of receipt is refused.
//   SLACK-VERIFY-3  Slack's URL verification is answered only if it is signed. Slack's certificate check (`ssl_check`) is unsigned.
//                   Slack's own receiver accepts that check too. The answer is empty and nothing arrives.

import { type RawRequest, type Verdict, verifyHmac } from '../../sdk/index.ts';
import { isObject } from '../../sdk/platform/foreign-json.ts';
import { safeJson } from '../../sdk/text/safe-json.ts';
import type { Account } from './config.ts';

/** `ok`, `handshake` with the challenge, or `refused` with a reason. The reason is logged and not sent to the client. */
export function verify(request: RawRequest, { secrets }: Pick<Account, 'secrets'>): Verdict {
  if (request.headers['x-slack-signature'] === undefined && isCertificateCheck(request)) return CERTIFICATE_ANSWER;
  const { 'x-slack-signature': header, 'x-slack-request-timestamp': timestamp } = request.headers;
  if (timestamp === undefined || !/^[1-9]\d{0,11}$/.test(timestamp))
    return { kind: 'refused', reason: 'no x-slack-request-timestamp, or one that is malformed' };
  if (header !== undefined && !header.startsWith('v0='))
    return { kind: 'refused', reason: 'the signature is not of version v0' };
  const verdict = verifyHmac(request, {
    signature: header?.slice('v0='.length),
    secrets,
    signed: Buffer.concat([Buffer.from(`v0:${timestamp}:`), request.body]),
    at: Number(timestamp) * 1_000,
  });
  return verdict.kind === 'ok' ? (handshakeOf(request) ?? verdict) : verdict;
}

const CERTIFICATE_ANSWER: Verdict = { kind: 'handshake', answer: { text: '' } };
/** Size limit of a certificate check, which holds only a flag and a token. */
const MOST_CHECK_BYTES = 1_024;

function isCertificateCheck({ body, headers }: Pick<RawRequest, 'body' | 'headers'>): boolean {
  const isForm = /^application\/x-www-form-urlencoded\b/i.test(headers['content-type'] ?? '');
  return (
    isForm &&
    body.length <= MOST_CHECK_BYTES &&
    new URLSearchParams(Buffer.from(body).toString('utf8')).get('ssl_check') === '1'
  );
}

/** Answer to a signed URL verification or certificate check. Undefined for any other request. */
function handshakeOf({ body, headers }: RawRequest): Verdict | undefined {
  if (isCertificateCheck({ body, headers })) return CERTIFICATE_ANSWER;
  const text = Buffer.from(body).toString('utf8');
  if (!text.includes('url_verification')) return undefined;
  const question = safeJson(text);
  if (!isObject(question) || question['type'] !== 'url_verification') return undefined;
  const { challenge } = question;
  return typeof challenge === 'string' && challenge.length <= 1_024
    ? { kind: 'handshake', answer: { text: challenge, headers: { 'content-type': 'text/plain; charset=utf-8' } } }
    : undefined;
}
