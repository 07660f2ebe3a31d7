// What is handed to `timingSafeEqual` while a test runs: how a secret is compared cannot be told by a clock in a test, but by what is compared.
import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import type { Cleanup } from './temporary-project.ts';

/** Pairs of hexadecimal digits, in their order. */
export function comparisons(t: Cleanup): [string, string][] {
  const seen: [string, string][] = [];
  const own = crypto.timingSafeEqual;
  crypto.timingSafeEqual = (one, other) => {
    seen.push([Buffer.from(one as Buffer).toString('hex'), Buffer.from(other as Buffer).toString('hex')]);
    return own(one, other);
  };
  syncBuiltinESMExports();
  t.after(() => {
    crypto.timingSafeEqual = own;
    syncBuiltinESMExports();
  });
  return seen;
}
