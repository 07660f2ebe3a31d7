// When the host makes the next checkpoint by itself. Pure but for the loading of croner.
//
//   SCHEDULE-1  A day or more apart: at `at` in the zone, on the first such day. Less: so many hours after the last one.
//   SCHEDULE-2  A time that was missed is due at once. So is the first checkpoint of a project that has run for longer than the interval.
import { cronTimes } from '../../shared/time/cron-times.ts';

export interface ScheduleRules {
  readonly everyHours: number;
  /** `03:30`. */
  readonly at: string;
  readonly zone: string;
}

const HOUR_MS = 3_600_000;
const DAY_HOURS = 24;

/** `last`: when the last one was made, or the project ran first. Undefined: never. */
export async function nextCheckpoint(
  { everyHours, at, zone }: ScheduleRules,
  last: number,
): Promise<number | undefined> {
  if (everyHours === 0) return undefined;
  if (everyHours < DAY_HOURS) return last + everyHours * HOUR_MS;
  const [hour = '0', minute = '0'] = at.split(':');
  const pattern = { at: `${Number(minute)} ${Number(hour)} * * *`, timezone: zone };
  return (await cronTimes('five')).next(pattern, last + (everyHours - DAY_HOURS) * HOUR_MS);
}
