// Verifies LINE's signature: HMAC-SHA256 over the raw body with the channel secret, in base64 (`X-Line-Signature`). Pure.
//
//   LINE-VERIFY-1  The header must be the canonical base64 of 32 bytes. Nothing is decoded leniently.
//   LINE-VERIFY-2  Every secret is compared in constant time, even after a match. Two are valid during a secret change.
//   LINE-VERIFY-3  LINE signs no time. Repeats are recognized by their webhookEventId.
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { RawRequest, Verdict } from '../../sdk/index.ts';
import type { Account } from './config.ts';

/** `ok`, or `refused` with a reason for the log. The client is not told the reason. */
export function verify(request: RawRequest, { channelSecrets }: Pick<Account, 'channelSecrets'>): Verdict {
  const { 'x-line-signature': header } = request.headers;
  if (header === undefined) return refused('no x-line-signature');
  const given = digestIn(header);
  if (given === undefined) return refused('the signature is malformed');

  let matches = 0;
  for (const secret of channelSecrets) {
    const text = secret.reveal();
    const wanted = createHmac('sha256', text).update(request.body).digest();
    matches += Number(timingSafeEqual(given, wanted)) * Number(text !== '');
  }
  return matches > 0 ? { kind: 'ok' } : refused('wrong signature');
}

/** Decodes canonical base64 of 32 bytes only. Undefined otherwise. */
function digestIn(text: string): Buffer | undefined {
  if (!/^[A-Za-z0-9+/]{43}=$/.test(text)) return undefined;
  const bytes = Buffer.from(text, 'base64');
  return bytes.toString('base64') === text ? bytes : undefined;
}

const refused = (reason: string): Verdict => ({ kind: 'refused', reason });
