// Time limits of the parts of a drain. Each part has a deadline, counted from the beginning of the drain. Time that one part leaves goes to the later
// ones: if nothing else needs it, handlers get nearly all. Pure, apart from the given clock.
//
//   DRAIN-TIMES-1  A part ends by its deadline, whatever the parts before it took. The later parts keep the time between their deadlines, so the
//                  drain ends in time.
//   DRAIN-TIMES-2  A part that waits for outsiders also has a longest duration. Outsiders are clients, and sends that have not begun and stay on
//                  disk. So slow outsiders take no time from other parts.

/** Shares of the whole drain: the deadline of a part, its longest and its shortest duration. */
interface Share {
  readonly until: number;
  readonly most?: number;
  readonly least?: number;
}

const SHARES = {
  received: { until: 0.2 }, // requests that were accepted from a held socket, and have not begun
  start: { until: 0.3 },
  event: { until: 0.4, most: 0.1 },
  watch: { until: 0.45, most: 0.05 },
  http: { until: 0.6, most: 0.25 },
  handlers: { until: 0.82 },
  pendingSends: { until: 0.84, most: 0.08 },
  sends: { until: 0.88 }, // a send may have begun just now: if cut at once, its message could show twice
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
