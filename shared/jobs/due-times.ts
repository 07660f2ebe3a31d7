// The due times of a job. Pure but for the loading of croner, which only a cron pattern needs.
//
//   DUE-TIMES-1  `at` is a fixed time: in a gap of daylight saving its end, in an overlap the first of the two.
//   DUE-TIMES-2  `every` counts real time from `from`, whatever the wall clocks do.
import { type CronPattern, type CronTimes, cronTimes } from '../time/cron-times.ts';
import type { JobTiming } from './job.ts';

export interface DueTimes {
  /** The first due time after `after`; undefined if there is none. */
  next(after: number): number | undefined;
  /** False if daylight saving has moved this due time. */
  isAtItsTime(due: number): boolean;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** `zone`: for a timing that names none. Throws for an invalid pattern. */
export async function dueTimes(timing: JobTiming, zone: string): Promise<DueTimes> {
  if (timing.kind !== 'cron') return plainTimes(timing, zone);
  return cronDueTimes(await cronTimes('five'), { at: timing.pattern, timezone: timing.timezone ?? zone });
}

const cronDueTimes = (times: CronTimes, pattern: CronPattern): DueTimes => ({
  next: (after) => times.next(pattern, after),
  isAtItsTime: (due) => times.isAtItsTime(pattern, due),
});

function plainTimes(timing: Exclude<JobTiming, { kind: 'cron' }>, zone: string): DueTimes {
  if (timing.kind === 'every') {
    const { everyMs, fromMs } = timing;
    const next = (after: number): number =>
      after < fromMs ? fromMs : fromMs + (Math.floor((after - fromMs) / everyMs) + 1) * everyMs;
    return { next, isAtItsTime: () => true };
  }
  const { at, moved } = readAt(timing.text, timing.timezone ?? zone);
  return { next: (after) => (at > after ? at : undefined), isAtItsTime: () => !moved };
}

const AT = /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2})(?::(\d{2}))?(Z|[+-]\d{2}:\d{2})?$/;

/** Whether the text is `YYYY-MM-DDTHH:MM[:SS]` of a day that exists, with or without `Z` or an offset. */
export function isAt(text: string): boolean {
  const parts = AT.exec(text);
  if (parts === null) return false;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0] = parts.slice(1, 6).map(Number);
  const second = Number(parts[6] ?? 0); // typed as a text, but undefined without seconds
  const offset = parts[7] ?? 'Z';
  const isDay = month >= 1 && month <= 12 && day >= 1 && day <= new Date(Date.UTC(year, month, 0)).getUTCDate();
  return isDay && hour < 24 && minute < 60 && second < 60 && !Number.isNaN(Date.parse(`2000-01-01T00:00:00${offset}`));
}

/** The instant of a text for which `isAt` holds. */
export function readAt(text: string, zone: string): { readonly at: number; readonly moved: boolean } {
  const parts = AT.exec(text);
  if (parts === null) throw new Error(`not a time: ${text}`);
  const seconds = parts[6] === undefined ? ':00' : '';
  if (parts[7] !== undefined)
    return { at: Date.parse(text.replace(/(Z|[+-]\d{2}:\d{2})$/, `${seconds}$1`)), moved: false };
  const wall = Date.parse(`${text}${seconds}Z`);
  const before = offsetAt(wall - DAY_MS, zone);
  const after = offsetAt(wall + DAY_MS, zone);
  const fitting = [wall - before, wall - after].filter((at) => at + offsetAt(at, zone) === wall);
  if (fitting.length > 0) return { at: Math.min(...fitting), moved: false };
  return { at: firstWith(after, { low: wall - DAY_MS - before, high: wall + DAY_MS - after, zone }), moved: true };
}

/** The instant at which the offset changes to `offset`. */
function firstWith(offset: number, { low, high, zone }: { low: number; high: number; zone: string }): number {
  let [from, to] = [low, high];
  while (to - from > 1) {
    const middle = Math.floor((from + to) / 2);
    if (offsetAt(middle, zone) === offset) to = middle;
    else from = middle;
  }
  return to;
}

const formats = new Map<string, Intl.DateTimeFormat>();

/** Local time minus UTC, in milliseconds. */
export function offsetAt(at: number, zone: string): number {
  const seconds = Math.floor(at / 1_000) * 1_000;
  return localTime(seconds, zone) - seconds;
}

/** The local time as if it were UTC. */
function localTime(at: number, zone: string): number {
  let format = formats.get(zone);
  if (format === undefined) {
    format = new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
    formats.set(zone, format);
  }
  const of: Record<string, number> = {};
  for (const { type, value } of format.formatToParts(at)) of[type] = Number(value);
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = of;
  return Date.UTC(year, month - 1, day, hour, minute, second);
}
