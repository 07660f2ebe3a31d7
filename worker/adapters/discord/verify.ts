// Verifies signatures of interactions: Ed25519 over `<timestamp><raw body>`. Pure, except for a cache of parsed keys.
//
//   DISCORD-VERIFY-1  Signature and timestamp are parsed strictly. Every public key is tried, because two are valid during a key change.
//   DISCORD-VERIFY-2  A timestamp more than five minutes before or after the request's arrival is refused.
//   DISCORD-VERIFY-3  PING is answered after verification. Discord uses it to test the address, and sends wrong signatures to test the check.
import { createPublicKey, type KeyObject, verify as verifySignature } from 'node:crypto';
import type { RawRequest, Verdict } from '../../sdk/index.ts';
import type { Account } from './config.ts';
import { deliveredIn } from './interactions/delivered.ts';

const TOLERANCE_MS = 300_000;
const PING = 1;
const PONG = { kind: 'handshake', answer: { json: { type: 1 } } } as const;
/** DER prefix of a 32-byte Ed25519 public key. */
const DER_PREFIX = Buffer.from('302a300506032b6570032100', 'hex');

const refused = (reason: string): Verdict => ({ kind: 'refused', reason });

/** `ok`, `handshake` for a PING, or `refused` with a reason for the log. The client is not told the reason. */
export function verify(request: RawRequest, account: Pick<Account, 'publicKeys'>): Verdict {
  const { 'x-signature-ed25519': signature = '', 'x-signature-timestamp': timestamp = '' } = request.headers;
  if (!/^[0-9a-f]{128}$/i.test(signature)) return refused('no x-signature-ed25519, or one that is malformed');
  if (!/^[1-9]\d{0,11}$/.test(timestamp)) return refused('no x-signature-timestamp, or one that is malformed');
  if (Math.abs(request.receivedAt - Number(timestamp) * 1_000) > TOLERANCE_MS) return refused('too old');

  const signed = Buffer.concat([Buffer.from(timestamp), request.body]);
  if (!isSigned(signed, Buffer.from(signature, 'hex'), account.publicKeys)) return refused('wrong signature');
  return deliveredIn(request)?.['type'] === PING ? PONG : { kind: 'ok' };
}

/** Whether one of the keys (32 bytes, hexadecimal) made this signature. */
export function isSigned(signed: Uint8Array, signature: Uint8Array, publicKeys: readonly string[]): boolean {
  let matches = 0;
  for (const key of keysOf(publicKeys)) matches += Number(verifySignature(null, signed, key, signature));
  return matches > 0;
}

const read = new WeakMap<readonly string[], readonly KeyObject[]>();

function keysOf(publicKeys: readonly string[]): readonly KeyObject[] {
  let keys = read.get(publicKeys);
  if (keys === undefined) {
    keys = publicKeys.map((hex) =>
      createPublicKey({ key: Buffer.concat([DER_PREFIX, Buffer.from(hex, 'hex')]), format: 'der', type: 'spki' }),
    );
    read.set(publicKeys, keys);
  }
  return keys;
}
