// Texts of the remind plugin. Pure.
import { showDuration } from '../../sdk/index.ts';

export interface Reminder {
  readonly n: number;
  readonly at: number;
  readonly text: string;
}

export interface ShownIn {
  readonly now: number;
  readonly timezone: string;
}

const HOUR_MS = 3_600_000;
const MOST_SHOWN = 20;

export const TOO_FAR = (days: number): string => `At most ${days} days.`;
export const PAST = 'That time is over.';

/** A time that is near is clear by its delay. A later one depends on the zone. */
export function promised(at: number, shownIn: ShownIn): string {
  const delayMs = at - shownIn.now;
  if (delayMs < HOUR_MS) return `I will remind you in ${showDuration(delayMs)}.`;
  return `I will remind you on ${dateTime(at, shownIn)}, in ${showDuration(delayMs)}.`;
}

export function reminderList(reminders: readonly Reminder[], shownIn: ShownIn): string {
  if (reminders.length === 0) return 'No reminder waits for you here.';
  const lines = reminders
    .slice(0, MOST_SHOWN)
    .map(
      ({ n, at, text }) => `${n}) ${dateTime(at, shownIn)}, in ${showDuration(at - shownIn.now)}: ${shortened(text)}`,
    );
  const more = reminders.length - lines.length;
  return [...lines, ...(more > 0 ? [`and ${more} more`] : [])].join('\n');
}

export const cancelled = (n: number, text: string): string => `Reminder ${n} is cancelled: ${shortened(text)}`;
export const unknownReminder = (n: number): string =>
  `You have no reminder ${n} here. /remind list shows those that wait.`;

/** `Sat 28 Nov, 09:00 (Europe/Berlin)`, with the year if it is another one. */
function dateTime(at: number, { now, timezone }: ShownIn): string {
  const year = (time: number): string =>
    new Intl.DateTimeFormat('en-GB', { year: 'numeric', timeZone: timezone }).format(time);
  const date = new Intl.DateTimeFormat('en-GB', {
    weekday: 'short',
    day: 'numeric',
    month: 'short',
    ...(year(at) === year(now) ? {} : { year: 'numeric' }),
    hour: '2-digit',
    minute: '2-digit',
    timeZone: timezone,
  });
  const of = Object.fromEntries(date.formatToParts(at).map(({ type, value }) => [type, value]));
  const day = [of['weekday'], of['day'], of['month'], of['year']].filter((part) => part !== undefined).join(' ');
  return `${day}, ${of['hour']}:${of['minute']} (${timezone})`;
}

const shortened = (text: string): string => {
  const characters = Array.from(text.replace(/\s+/g, ' '));
  return characters.length <= 80 ? characters.join('') : `${characters.slice(0, 79).join('')}…`;
};
