// Jittered exponential delay that resets after a minimum uptime, for loops that never give up; waits that somebody else names.

export interface BackoffOptions {
  /** First delay. Default 1 000. */
  readonly firstMs?: number;
  /** Longest delay. Default 60 000. */
  readonly mostMs?: number;
  /** How long a success has to last before the delay starts again from the first. Default 30 000. */
  readonly resetAfterMs?: number;
  readonly random?: () => number;
}

/** Delay before attempt number `failures` (1 = first retry): full jitter over the upper half. */
export function backoffDelay(
  failures: number,
  { firstMs = 1_000, mostMs = 60_000, random = Math.random }: BackoffOptions = {},
): number {
  const ceiling = Math.min(mostMs, firstMs * 2 ** Math.min(failures - 1, 30));
  return Math.round(ceiling / 2 + (random() * ceiling) / 2);
}

/** Failures in a row after one more, where the try before it had lasted `uptimeMs`. */
export function nextFailures(
  failures: number,
  uptimeMs: number,
  { resetAfterMs = 30_000 }: BackoffOptions = {},
): number {
  return uptimeMs >= resetAfterMs ? 1 : failures + 1;
}

const LONGEST_WAIT_MS = 365 * 86_400_000;

/** A wait that somebody else names, as it can be stored: whole, at most a year; undefined where it is none. */
export function wholeWaitMs(ms: unknown): number | undefined {
  if (typeof ms !== 'number' || !Number.isFinite(ms)) return undefined;
  return Math.ceil(Math.min(Math.max(0, ms), LONGEST_WAIT_MS));
}
