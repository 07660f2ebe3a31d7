// Verifies signatures of webhooks: HMAC-SHA256 over raw bytes.
//
//   SIGNATURE-1  A signature is exactly 64 hexadecimal digits; anything else is refused. Nothing is decoded leniently.
//   SIGNATURE-2  Every secret is compared in constant time, also after a match. Two secrets are valid while one is renewed.
//   SIGNATURE-3  With `at`, a signature made more than five minutes before or after the request arrived is refused.
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { RawRequest, Verdict } from '../request.ts';
import type { Secret } from '../secret.ts';

const TOLERANCE_MS = 300_000;

export interface HmacOptions {
  /** 64 hexadecimal digits, without the platform's prefix (`sha256=`). From base64: `Buffer.from(it, 'base64').toString('hex')`. */
  readonly signature: string | undefined;
  /** All valid secrets. Two are valid while one is renewed. */
  readonly secrets: readonly Secret[];
  /** The signed bytes, if they are not the body alone. */
  readonly signed?: Uint8Array;
  /** When it was signed, epoch milliseconds. More than five minutes off is refused. The time must be part of the signed bytes. */
  readonly at?: number;
}

/** Checks an HMAC-SHA256 over the raw bytes. The reason of `refused` reveals nothing about the expected signature. */
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
