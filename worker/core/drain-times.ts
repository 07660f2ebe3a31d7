// How long each part of a drain may take. A part has until its instant, counted from the beginning of the drain, so that what one leaves of its
// time the next ones have: where nothing else needs it, nearly all of it is for handlers. Pure, but for the clock that it is given.
//
//   T1  Whatever the parts before it took, a part ends by its instant, and those after it have what lies between: all of it ends in time.
//   T2  What waits for strangers (clients, and sends that have not begun and keep on disk) has a length of its own besides: it takes no time
//       from anybody by being slow.

/** As shares of the whole: the instant by which a part ends, the most and the least that it takes. */
interface Share {
  readonly until: number;
  readonly most?: number;
  readonly least?: number;
}

const SHARES = {
  start: { until: 0.3 },
  event: { until: 0.4, most: 0.1 },
  watch: { until: 0.45, most: 0.05 },
  http: { until: 0.6, most: 0.25 },
  handlers: { until: 0.82 },
  pendingSends: { until: 0.84, most: 0.08 },
  sends: { until: 0.88 }, // the last of those may have begun just now: cut at once, it would stand twice
  accounts: { until: 0.92 },
  database: { until: 0.98, least: 0.06 },
  connections: { until: 1, least: 0.02 },
} as const satisfies Readonly<Record<string, Share>>;

export type DrainPart = keyof typeof SHARES;

/** Milliseconds that a part may take if it begins now. */
export type TimeLeft = (part: DrainPart) => number;

/** A drain of `limitMs` that begins now, on a monotonic clock. */
export function drainTimes(limitMs: number, now: () => number = () => performance.now()): TimeLeft {
  const beganAt = now();
  return (part) => {
    const { until, most = 1, least = 0 }: Share = SHARES[part];
    const left = beganAt + limitMs * until - now();
    return Math.max(limitMs * least, Math.min(limitMs * most, left), 0);
  };
}
