// How many calls an account makes in a second. A call that has to wait does so here, because the host counts what it has to repeat; one that
// would wait too long is put off.
//
//   R1  Calls are `1 / perSecond` apart, in the order in which they came; after a rest up to BURST go out at once.
//   R2  Where the implementation asks for later (429), no other call of the account goes out until then.
import type { Account } from './config.ts';

const BURST = 3;
const MOST_WAIT_MS = 20_000;

const nextAt = new WeakMap<Account, number>();

/** How long a call waits that comes now; it has its place then. Undefined, with no place taken, where that is too long. */
export function placeInLine(account: Account, now: number): { readonly waitMs: number } | { readonly afterMs: number } {
  const gapMs = 1_000 / account.perSecond;
  const at = Math.max(nextAt.get(account) ?? 0, now - (BURST - 1) * gapMs);
  const waitMs = Math.max(0, at - now);
  if (waitMs > MOST_WAIT_MS) return { afterMs: Math.ceil(waitMs) };
  nextAt.set(account, at + gapMs);
  return { waitMs };
}

/** R2. */
export function putOff(account: Account, until: number): void {
  nextAt.set(account, Math.max(nextAt.get(account) ?? 0, until));
}
