// Explains an invalid cron time to the author of a plugin: the wrong field, its values, the nearest time zone.
import { printable } from '../../shared/config/fault.ts';
import { isZone, nearestZone } from '../../shared/config/time-zone.ts';

export interface CronFault {
  readonly message: string;
  readonly hint: string;
}

const FIELDS = {
  second: '0-59',
  minute: '0-59',
  hour: '0-23',
  'day of the month': '1-31 or L',
  month: '1-12 or JAN-DEC',
  'day of the week': '0-7 or SUN-SAT',
  year: '1-9999',
} as const;
type Field = keyof typeof FIELDS;

const NAMES = Object.keys(FIELDS) as Field[];
const EXAMPLE = "'0 9 * * 1-5' is 9:00 from Monday to Friday";

/** `isReadable` tries a pattern in UTC. */
export function cronFault(
  { at, timezone }: { readonly at: string; readonly timezone: string },
  isReadable: (pattern: string) => boolean,
): CronFault {
  if (isReadable(at)) return zoneFault(timezone);
  const parts = at.trim().split(/\s+/);
  const names = namesOf(parts.length);
  if (names === undefined)
    return {
      message: `at is ${quoted(at)}: it has to have five parts, minute, hour, day of the month, month and day of the week`,
      hint: EXAMPLE,
    };
  const wrong = parts.findIndex(
    (part, index) => !isReadable(parts.map((_, i) => (i === index ? part : '*')).join(' ')),
  );
  const name = names[wrong];
  // Each field is valid alone: only their combination is not.
  if (name === undefined) return { message: `at is ${quoted(at)}, which cannot be read`, hint: EXAMPLE };
  return {
    message: `at is ${quoted(at)}: its ${name} ${quoted(parts[wrong] ?? '')} has to be of ${FIELDS[name]}, as *, one, a range, a list or */steps`,
    hint: EXAMPLE,
  };
}

function zoneFault(timezone: string): CronFault {
  const near = isZone(timezone) ? undefined : nearestZone(timezone);
  return {
    message: `timezone is ${quoted(timezone)}: it has to be an IANA name of a time zone`,
    hint: near === undefined ? 'like Europe/Berlin, or left out for schedule.timezone' : `did you mean ${near}?`,
  };
}

/** Five fields begin with the minute. Six have the second before it, seven also the year at the end. */
const namesOf = (count: number): readonly Field[] | undefined =>
  count === 5 ? NAMES.slice(1, 6) : count === 6 ? NAMES.slice(0, 6) : count === 7 ? NAMES : undefined;

const quoted = (text: string): string => (printable(text).startsWith('"') ? printable(text) : `"${printable(text)}"`);
