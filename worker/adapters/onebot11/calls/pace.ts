// Limits an account's calls per second. A short wait happens here, because the host counts retries. A call with a long wait is postponed, and comes
// again.
//
//   ONEBOT11-PACE-1  Calls are `1 / perSecond` apart, in order of arrival. After an idle time up to BURST go out at once.
//   ONEBOT11-PACE-2  After a rate limit (429), no call of the account goes out before its end.
//   ONEBOT11-PACE-3  A postponed call keeps its slot. So however many wait, each is postponed once, and does not exhaust its attempts.
import { keepNewest } from '../../../sdk/platform/keep-newest.ts';
import type { Account } from '../config.ts';

const BURST = 3;
const MOST_WAIT_MS = 20_000;
const MOST_PUT_OFF = 100_000;
/** A slot expires this long after its time. Otherwise all postponed calls would go out at once after an outage. */
const LATE_MS = 5_000;

interface Line {
  /** Monotonic time of the next free slot. */
  nextAt: number;
  /** End of a rate limit (429). No call goes out before it. */
  quietUntil: number;
  /** Slots of postponed calls, by key. */
  readonly kept: Map<string, number>;
}
const lines = new WeakMap<Account, Line>();

function lineOf(account: Account): Line {
  const line = lines.get(account) ?? { nextAt: Number.NEGATIVE_INFINITY, quietUntil: 0, kept: new Map() };
  lines.set(account, line);
  return line;
}

/** Reserves a slot. Returns the wait before the call, or the time after which the call must come again. */
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

/** Postpones all calls of the account until the end of a rate limit. */
export function putOff(account: Account, until: number): void {
  const line = lineOf(account);
  line.quietUntil = Math.max(line.quietUntil, until);
  line.nextAt = Math.max(line.nextAt, until);
}
