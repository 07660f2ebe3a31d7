// Times as people write them in chat: durations ("10m"), and English words by chrono-node ("in 5 minutes", "tomorrow at 9").
//
//   TIME-WORDS-1  chrono-node is loaded at the first text that needs words, not at the start.
//   TIME-WORDS-2  At most MOST_CHARACTERS of a stranger's text are searched, because chrono's patterns may backtrack.
//   TIME-WORDS-3  A time of day counts in `timezone`. A delay ("in 2 hours") counts in elapsed time, over a change of the clocks too.
//   TIME-WORDS-4  A time without a date is the next one.
import type { ParsedComponents, ParsedResult } from 'chrono-node';
import type { FindTime, FoundTime } from '../../sdk/text/chat-line.ts';
import { isTime } from '../../sdk/text/chat-line.ts';
import { readDuration } from '../../sdk/text/duration.ts';

export interface TimeFrame {
  /** Epoch milliseconds. */
  readonly now: number;
  /** IANA name. */
  readonly timezone: string;
}

const MOST_CHARACTERS = 80;

type Parser = typeof import('chrono-node/en')['casual'];
let loaded: Promise<Parser> | undefined;

/** Finds times for these arguments. Undefined if none of them is a time. */
export async function timesFor(schemas: readonly object[], frame: TimeFrame): Promise<FindTime | undefined> {
  if (!schemas.some(isTime)) return undefined;
  loaded ??= import('chrono-node/en').then(({ casual }) => casual);
  const parser = await loaded;
  return (text, where) => durationIn(text, where, frame) ?? wordsIn(parser, { text, where, frame });
}

/** Finds durations alone. Loads nothing. */
export const durationsFor =
  (frame: TimeFrame): FindTime =>
  (text, where) =>
    durationIn(text, where, frame);

type Where = Parameters<FindTime>[1];

const DURATIONS: Readonly<Record<Where, RegExp>> = {
  first: /^(?:in\s+)?(\d[\da-z]*)(?=[\s,.;:!]|$)/i,
  last: /(?<=^|\s)(?:in\s+)?(\d[\da-z]*)$/i,
  whole: /^\s*(?:in\s+)?(\d[\da-z]*)\s*$/i,
};

function durationIn(text: string, where: Where, { now }: TimeFrame): FoundTime | undefined {
  const { part, offset } = searched(text, where);
  const found = DURATIONS[where].exec(part);
  const ms = readDuration((found?.[1] ?? '').toLowerCase());
  if (found === null || ms === undefined) return undefined;
  const start = offset + found.index;
  return { time: now + ms, start, end: start + found[0].length };
}

interface WordsOf {
  readonly text: string;
  readonly where: Where;
  readonly frame: TimeFrame;
}

function wordsIn(parser: Parser, of: WordsOf): FoundTime | undefined {
  const { text, where, frame } = of;
  const { part, offset } = searched(text, where);
  if (where === 'whole' && part.length < text.trim().length) return undefined;
  const reference = { instant: new Date(frame.now), timezone: offsetOf(frame.now, frame.timezone) };
  const results = parser.parse(part, reference, { forwardDate: true });
  const result = where === 'last' ? results.at(-1) : results[0];
  if (result === undefined || isOrdinaryWord(result)) return undefined;
  const start = result.index;
  const end = start + result.text.length;
  const time = instantOf(result.start, frame);
  if (Number.isNaN(time) || !stands(part, { start, end }, where)) return undefined;
  return { time, start: offset + start, end: offset + end };
}

/** "may", "march" and "a day" say something else more often. */
const isOrdinaryWord = ({ text, start }: ParsedResult): boolean =>
  /^an?\s/i.test(text) ||
  (start.tags().has('parser/ENMonthNameParser') && !start.isCertain('day') && !start.isCertain('hour'));

/** True if the span is where it was looked for, and cuts no word in two. */
function stands(text: string, { start, end }: { start: number; end: number }, where: Where): boolean {
  const before = text.slice(0, start);
  const behind = text.slice(end);
  if (where !== 'last' && before.trim() !== '') return false;
  if (where !== 'first' && behind.trim() !== '') return false;
  return /(?:^|\s)$/.test(before) && /^(?:[\s,.;:!]|$)/.test(behind);
}

/** The part of the text that is searched, cut between words. */
function searched(text: string, where: Where): { readonly part: string; readonly offset: number } {
  if (text.length <= MOST_CHARACTERS) return { part: text, offset: 0 };
  if (where !== 'last') return { part: text.slice(0, MOST_CHARACTERS).replace(/\S+$/, ''), offset: 0 };
  const part = text.slice(-MOST_CHARACTERS).replace(/^\S+/, '');
  return { part, offset: text.length - part.length };
}

function instantOf(components: ParsedComponents, { timezone }: TimeFrame): number {
  const of = (name: Parameters<ParsedComponents['get']>[0]): number => components.get(name) ?? 0;
  const wall = Date.UTC(
    of('year'),
    of('month') - 1,
    of('day'),
    of('hour'),
    of('minute'),
    of('second'),
    of('millisecond'),
  );
  // Known for a delay and where the text names a zone.
  if (components.isCertain('timezoneOffset')) return wall - of('timezoneOffset') * 60_000;
  const guess = wall - offsetOf(wall, timezone) * 60_000;
  return wall - offsetOf(guess, timezone) * 60_000;
}

/** Minutes east of UTC at that moment. */
function offsetOf(at: number, timezone: string): number {
  if (Number.isNaN(new Date(at).getTime())) return 0;
  const parts = new Intl.DateTimeFormat('en-US', { timeZone: timezone, timeZoneName: 'longOffset' }).formatToParts(at);
  const name = parts.find(({ type }) => type === 'timeZoneName')?.value ?? '';
  const [, sign, hours, minutes] = /GMT([+-])(\d\d):(\d\d)/.exec(name) ?? [];
  return (sign === '-' ? -1 : 1) * (Number(hours ?? 0) * 60 + Number(minutes ?? 0));
}
