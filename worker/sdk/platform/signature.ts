// Signatures of webhooks: HMAC-SHA256 over raw bytes.
//
//   V1  The signature is 64 hexadecimal digits, or it is refused: nothing is decoded leniently.
//   V2  Every secret is compared, in constant time, also after a match: two are valid while one is renewed.
//   V3  With `at`, a signature made more than five minutes before or after the request came is refused.
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { RawRequest, Verdict } from '../request.ts';
import type { Secret } from '../secret.ts';

const TOLERANCE_MS = 300_000;

export interface HmacOptions {
  /** 64 hexadecimal digits, without what the platform puts before them (`sha256=`). One in base64: `Buffer.from(it, 'base64').toString('hex')`. */
  readonly signature: string | undefined;
  /** Each is tried: two are valid while one is renewed. */
  readonly secrets: readonly Secret[];
  /** What was signed, when it is not the body alone. */
  readonly signed?: Uint8Array;
  /** When it was signed, epoch milliseconds: over five minutes off is refused. It must be inside what was signed. */
  readonly at?: number;
}

/** HMAC-SHA256 over the bytes as they came: `ok`, or `refused` with a reason that gives nothing away. */
export function verifyHmac(
  request: RawRequest,
  { signature, secrets, signed = request.body, at }: HmacOptions,
): Verdict {
  if (signature === undefined) return { kind: 'refused', reason: 'no signature' };
  if (!/^[0-9a-f]{64}$/i.test(signature)) return { kind: 'refused', reason: 'malformed signature' };
  if (at !== undefined && !(Math.abs(request.receivedAt - at) <= TOLERANCE_MS))
    return { kind: 'refused', reason: 'too old' };

  const given = Buffer.from(signature, 'hex');
  let matches = 0;
  for (const secret of secrets) {
    const text = secret.reveal();
    const wanted = createHmac('sha256', text).update(signed).digest();
    matches += Number(timingSafeEqual(given, wanted)) * Number(text !== '');
  }
  return matches > 0 ? { kind: 'ok' } : { kind: 'refused', reason: 'wrong signature' };
}
