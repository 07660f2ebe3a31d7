// Waiting in tests: polls a condition until it holds; the message of the failure says what was waited for.
/* oxlint-disable eslint/no-restricted-properties -- a time-out, after which a test fails that would never end */

export interface UntilOptions {
  /** What is waited for, as the end of "waited 300000 ms for …". */
  readonly what: string;
  /** Default 300 000: a machine with others to serve may be slow, and a condition that holds costs nothing. */
  readonly timeoutMs?: number;
  /** Default 10. */
  readonly everyMs?: number;
}

/** The first value of `condition` that is neither false, null, undefined nor a throw; throws when time is up. */
export async function until<T>(
  condition: () => T | Promise<T>,
  { what, timeoutMs = 300_000, everyMs = 10 }: UntilOptions,
): Promise<Exclude<T, false | null | undefined>> {
  const endsAt = performance.now() + timeoutMs;
  let last: unknown;
  for (;;) {
    try {
      const value = await condition();
      if (value !== false && value !== null && value !== undefined)
        return value as Exclude<T, false | null | undefined>;
      last = undefined;
    } catch (error) {
      last = error;
    }
    if (performance.now() > endsAt)
      throw new Error(`waited ${timeoutMs} ms for ${what}${whyOf(last)}`, { cause: last });
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
}

/** ` (why: why of that)`, for the one line that a run of all tests prints of a failure. */
function whyOf(last: unknown): string {
  const whys: string[] = [];
  for (let at = last; at instanceof Error && whys.length < 3; at = at.cause) whys.push(at.message);
  return whys.length === 0 ? '' : ` (${whys.join(': ')})`;
}
