// Verifies a signature of Standard Webhooks: HMAC-SHA256 over `<webhook-id>.<webhook-timestamp>.<raw body>`. Pure.
//
//   WEBHOOK-VERIFY-1  Header, timestamp and base64 are parsed strictly, without the leniency of common parsers.
//   WEBHOOK-VERIFY-2  Every signature is compared with every secret in constant time, without an early exit.
//   WEBHOOK-VERIFY-3  A timestamp more than five minutes from the time of receipt is refused.
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { RawRequest, Verdict } from '../../sdk/index.ts';
import { type Account, keyOf, strictBase64 } from './config.ts';

const TOLERANCE_SECONDS = 300;
const MAX_SIGNATURES = 16;

/** `ok`, or `refused` with a reason. The reason is logged and not sent to the client. */
export function verify(request: RawRequest, { secrets }: Pick<Account, 'secrets'>): Verdict {
  const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': header } = request.headers;
  if (id === undefined || !/^[!-~]{1,256}$/.test(id)) return refused('no webhook-id, or one that is malformed');
  const sentAt = readTimestamp(timestamp);
  if (timestamp === undefined || sentAt === undefined) return refused('no webhook-timestamp, or one that is malformed');
  if (Math.abs(Math.floor(request.receivedAt / 1_000) - sentAt) > TOLERANCE_SECONDS)
    return refused('webhook-timestamp is more than five minutes off');
  const given = readSignatures(header);
  if (given.length === 0) return refused('no v1 signature, or one that is malformed');

  let matches = 0;
  for (const secret of secrets) {
    const key = keyOf(secret);
    const wanted = createHmac('sha256', key ?? '')
      .update(`${id}.${timestamp}.`)
      .update(request.body)
      .digest();
    for (const signature of given) matches += Number(timingSafeEqual(signature, wanted)) * Number(key !== undefined);
  }
  return matches > 0 ? { kind: 'ok' } : refused('wrong signature');
}

/** Epoch seconds from plain decimal digits. Undefined for anything else. */
export function readTimestamp(text: string | undefined): number | undefined {
  return text !== undefined && /^[1-9]\d{0,11}$/.test(text) ? Number(text) : undefined;
}

/** The well-formed v1 signatures of the header. Other versions are ignored. */
function readSignatures(header: string | undefined): readonly Buffer[] {
  const signatures: Buffer[] = [];
  for (const part of header?.split(' ', MAX_SIGNATURES) ?? []) {
    const bytes = part.startsWith('v1,') ? strictBase64(part.slice(3)) : undefined;
    if (bytes?.length === 32) signatures.push(bytes);
  }
  return signatures;
}

const refused = (reason: string): Verdict => ({ kind: 'refused', reason });
