// Exponential delay with jitter for loops that never give up, reset after a minimum uptime. Also checks waits that a platform requests.

export interface BackoffOptions {
  /** First delay in ms. Default 1 000. */
  readonly firstMs?: number;
  /** Longest delay in ms. Default 60 000. */
  readonly mostMs?: number;
  /** Uptime in ms that resets the delay to the first. Default 30 000. */
  readonly resetAfterMs?: number;
  readonly random?: () => number;
}

/** Delay before retry number `failures` (1 = first retry): random within the upper half. */
export function backoffDelay(
  failures: number,
  { firstMs = 1_000, mostMs = 60_000, random = Math.random }: BackoffOptions = {},
): number {
  const ceiling = Math.min(mostMs, firstMs * 2 ** Math.min(failures - 1, 30));
  return Math.round(ceiling / 2 + (random() * ceiling) / 2);
}

/** Failures in a row after one more. `uptimeMs` is how long the last attempt had worked. */
export function nextFailures(
  failures: number,
  uptimeMs: number,
  { resetAfterMs = 30_000 }: BackoffOptions = {},
): number {
  return uptimeMs >= resetAfterMs ? 1 : failures + 1;
}

const LONGEST_WAIT_MS = 365 * 86_400_000;

/** A requested wait in whole milliseconds, at most a year. Undefined if it is no number. */
export function wholeWaitMs(ms: unknown): number | undefined {
  if (typeof ms !== 'number' || !Number.isFinite(ms)) return undefined;
  return Math.ceil(Math.min(Math.max(0, ms), LONGEST_WAIT_MS));
}
