// Signatures of LINE: HMAC-SHA256 over the raw body with the channel secret, in base64 (`X-Line-Signature`). Pure.
//
//   V1  The header is the canonical base64 of 32 bytes, or it is refused: nothing is decoded leniently.
//   V2  Every secret is compared, in constant time, also after a match: two are valid while one is renewed.
//   V3  LINE signs no time: what comes again is known by its webhookEventId.
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { RawRequest, Verdict } from '../../sdk/index.ts';
import type { Account } from './config.ts';

/** `ok`, or `refused` with a reason for the log: the client is told nothing of it. */
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

/** V1. */
function digestIn(text: string): Buffer | undefined {
  if (!/^[A-Za-z0-9+/]{43}=$/.test(text)) return undefined;
  const bytes = Buffer.from(text, 'base64');
  return bytes.toString('base64') === text ? bytes : undefined;
}

const refused = (reason: string): Verdict => ({ kind: 'refused', reason });
