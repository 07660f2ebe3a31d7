// Times of a cron pattern, by croner. Plugins' `p.cron` and scheduled jobs share it. croner is loaded at the first pattern.
//
//   CRON-TIMES-1  Daylight saving as Vixie cron. A pattern without `*` and steps in minute and hour has fixed times: in a gap it is due once, at the
//                 end of the gap; in an overlap once, the first time. All others follow real time: nothing extra in a gap, both passes of an overlap.
import type { Cron } from 'croner';

export interface CronPattern {
  readonly at: string;
  readonly timezone: string;
}

export interface CronTimes {
  /** The first due time after `after`, in epoch milliseconds; undefined if there is none. Throws for an invalid pattern. */
  next(pattern: CronPattern, after: number): number | undefined;
  /** False if daylight saving has moved this due time. */
  isAtItsTime(pattern: CronPattern, due: number): boolean;
}

/** `fields`: how many a pattern may have. Plugins may give seconds and years, jobs may not. */
export type CronFields = 'five' | 'any';

const FIELDS = { five: '5-part', any: 'auto' } as const;
const MOST_KEPT = 2_000;

let loading: Promise<typeof Cron> | undefined;
const made = new Map<CronFields, CronTimes>();

export async function cronTimes(fields: CronFields): Promise<CronTimes> {
  loading ??= import('croner').then((module) => module.Cron);
  const Pattern = await loading;
  let times = made.get(fields);
  if (times === undefined) made.set(fields, (times = timesWith(Pattern, fields)));
  return times;
}

function timesWith(Pattern: typeof Cron, fields: CronFields): CronTimes {
  const kept = new Map<string, Cron>();
  const patternOf = ({ at, timezone }: CronPattern): Cron => {
    const key = `${timezone}\n${at}`;
    let pattern = kept.get(key);
    if (pattern === undefined) {
      if (kept.size >= MOST_KEPT) kept.clear();
      pattern = new Pattern(at, { timezone, paused: true, mode: FIELDS[fields], fixedTimeRule: 'no-wildcard' });
      kept.set(key, pattern);
    }
    return pattern;
  };
  return {
    next: (pattern, after) => patternOf(pattern).nextRun(new Date(after))?.getTime(),
    isAtItsTime: (pattern, due) => patternOf(pattern).match(new Date(due)),
  };
}
