// How many calls an account makes in a second. A call that has to wait does so here, because the host counts what it has to repeat; one that
// would wait too long is put off, and comes again.
//
//   R1  Calls are `1 / perSecond` apart, in the order in which they came; after a rest up to BURST go out at once.
//   R2  Where the implementation asks for later (429), no other call of the account goes out until then.
//   R3  A call that is put off keeps its place: however many wait, each is put off once, and not until its attempts are spent.
import { keepNewest } from '../../../sdk/platform/keep-newest.ts';
import type { Account } from '../config.ts';

const BURST = 3;
const MOST_WAIT_MS = 20_000;
const MOST_PUT_OFF = 100_000;
/** A place that is longer past is none any more: after an outage all of them would go out at once. */
const LATE_MS = 5_000;

interface Line {
  /** Of the next place that is free. */
  nextAt: number;
  /** R2. */
  quietUntil: number;
  /** R3: places by key. */
  readonly kept: Map<string, number>;
}
const lines = new WeakMap<Account, Line>();

function lineOf(account: Account): Line {
  const line = lines.get(account) ?? { nextAt: Number.NEGATIVE_INFINITY, quietUntil: 0, kept: new Map() };
  lines.set(account, line);
  return line;
}

/** How long a call waits that comes now, or that it has to come again after; it has its place either way. */
export function placeInLine(
  account: Account,
  key: string,
  now: number,
): { readonly waitMs: number } | { readonly afterMs: number } {
  const line = lineOf(account);
  const kept = line.kept.get(key);
  line.kept.delete(key);
  const at =
    kept !== undefined && kept >= Math.max(line.quietUntil, now - LATE_MS) ? kept : takePlace(line, account, now);
  const waitMs = Math.max(0, at - now);
  if (waitMs <= MOST_WAIT_MS) return { waitMs };
  keepNewest(line.kept, [key, at], MOST_PUT_OFF);
  return { afterMs: Math.ceil(waitMs) };
}

function takePlace(line: Line, { perSecond }: Account, now: number): number {
  const gapMs = 1_000 / perSecond;
  const at = Math.max(line.nextAt, now - (BURST - 1) * gapMs);
  line.nextAt = at + gapMs;
  return at;
}

/** R2. */
export function putOff(account: Account, until: number): void {
  const line = lineOf(account);
  line.quietUntil = Math.max(line.quietUntil, until);
  line.nextAt = Math.max(line.nextAt, until);
}
