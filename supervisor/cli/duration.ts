// Durations and moments on the command line: `90s`, `30m`, `1h30m`, `2d`, `2026-01-31T12:00:00Z`.
import { SvcError } from '../../shared/svc-error.ts';

const UNIT_MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const MOST_MS = 366 * 86_400_000;

/** Parses a duration to milliseconds. Throws `usage` unless it is between 1 s and a year. */
export function parseDuration(flag: string, text: string, what = 'a duration'): number {
  const parts = [...text.matchAll(/(\d{1,6})([smhd])/g)];
  const delayMs = parts.reduce((sum, [, count, unit]) => sum + Number(count) * (UNIT_MS[unit ?? ''] ?? 0), 0);
  if (parts.map(([part]) => part).join('') === text && delayMs >= 1_000 && delayMs <= MOST_MS) return delayMs;
  throw new SvcError('usage', `${flag} takes ${what} such as 90s, 30m, 1h30m or 2d`);
}

/** Parses a time, or an age, to epoch milliseconds. Throws `usage`. */
export function momentOf(flag: string, text: string): number {
  const moment = /^\d{4}-\d{2}-\d{2}/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(moment)
    ? Date.now() - parseDuration(flag, text, 'a time such as 2026-01-31T12:00:00Z, or an age')
    : moment;
}
