// Texts of the remind plugin. Pure.
import { showDuration } from '../../sdk/index.ts';
import type { remindTexts } from '../../sdk/text/chat-texts.ts';

export interface Reminder {
  readonly n: number;
  readonly at: number;
  readonly text: string;
}

export interface ShownIn {
  readonly now: number;
  readonly timezone: string;
}

type RemindTexts = ReturnType<typeof remindTexts>;

const HOUR_MS = 3_600_000;
const MOST_SHOWN = 20;

/** A time that is near is clear by its delay. A later one depends on the zone. */
export function promised(at: number, shownIn: ShownIn, texts: RemindTexts): string {
  const delayMs = at - shownIn.now;
  if (delayMs < HOUR_MS) return texts.noted(showDuration(delayMs));
  return texts.notedOn(dateTime(at, shownIn, texts), showDuration(delayMs));
}

export function reminderList(reminders: readonly Reminder[], shownIn: ShownIn, texts: RemindTexts): string {
  if (reminders.length === 0) return texts.none;
  const lines = reminders.slice(0, MOST_SHOWN).map(({ n, at, text }) =>
    texts.line({
      n,
      date: dateTime(at, shownIn, texts),
      delay: showDuration(at - shownIn.now),
      text: shortened(text),
    }),
  );
  const more = reminders.length - lines.length;
  return [...lines, ...(more > 0 ? [texts.more(more)] : [])].join('\n');
}

export const cancelled = (n: number, text: string, texts: RemindTexts): string => texts.cancelled(n, shortened(text));

/** `Sat 28 Nov, 09:00 (Europe/Berlin)`, with the year if it is another one. */
function dateTime(at: number, { now, timezone }: ShownIn, texts: RemindTexts): string {
  const year = (time: number): string =>
    new Intl.DateTimeFormat('en-GB', { year: 'numeric', timeZone: timezone }).format(time);
  const date = new Intl.DateTimeFormat(texts.locale, {
    weekday: 'short',
    day: 'numeric',
    month: 'short',
    ...(year(at) === year(now) ? {} : { year: 'numeric' }),
    hour: '2-digit',
    minute: '2-digit',
    timeZone: timezone,
  });
  const of = Object.fromEntries(date.formatToParts(at).map(({ type, value }) => [type, value]));
  const part = (name: Intl.DateTimeFormatPartTypes): string => of[name] ?? '';
  return texts.date({
    weekday: part('weekday'),
    day: part('day'),
    month: part('month'),
    year: part('year'),
    time: `${part('hour')}:${part('minute')}`,
    timezone,
  });
}

const shortened = (text: string): string => {
  const characters = Array.from(text.replace(/\s+/g, ' '));
  return characters.length <= 80 ? characters.join('') : `${characters.slice(0, 79).join('')}…`;
};
