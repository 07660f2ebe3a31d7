// How fast lines may go out. Servers hold back or cut off who is faster: ngircd ten lines a second, InspIRCd ten at once and then one a
// second, older ones one in two seconds after ten. A bucket: `burst` lines at once, filled by `perSecond`. Pure.

export interface Bucket {
  readonly lines: number;
  /** Monotonic milliseconds. */
  readonly at: number;
}
export interface FloodLimit {
  readonly burst: number;
  readonly perSecond: number;
}

/** A full bucket. */
export function fullBucket(now: number, { burst }: FloodLimit): Bucket {
  return { lines: burst, at: now };
}

/** Takes one line out; `waitMs` says how long to wait before it may be written. The bucket owes it meanwhile. */
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
