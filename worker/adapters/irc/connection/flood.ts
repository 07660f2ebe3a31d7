// Flood limit as a token bucket: `burst` lines at once, refilled by `perSecond`. Pure.
// Servers delay or disconnect faster clients: ngircd after ten lines a second, InspIRCd after ten at once and then one a second. Older servers allow
// one line in two seconds after ten.

export interface Bucket {
  readonly lines: number;
  /** Monotonic ms. */
  readonly at: number;
}
export interface FloodLimit {
  readonly burst: number;
  readonly perSecond: number;
}

export function fullBucket(now: number, { burst }: FloodLimit): Bucket {
  return { lines: burst, at: now };
}

/** Takes one line from the bucket. The line may be written after `waitMs`. The bucket's count may become negative. */
export function takeLine(
  bucket: Bucket,
  now: number,
  { burst, perSecond }: FloodLimit,
): { readonly bucket: Bucket; readonly waitMs: number } {
  const filled = Math.min(burst, bucket.lines + (Math.max(0, now - bucket.at) / 1_000) * perSecond);
  const left = filled - 1;
  return {
    bucket: { lines: left, at: Math.max(now, bucket.at) },
    waitMs: left >= 0 ? 0 : Math.ceil((-left / perSecond) * 1_000),
  };
}
