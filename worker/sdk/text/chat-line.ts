// Parses the arguments of a chat command: by position, by --name, with a list or the rest of the line last. This file converts words to values; the
// schema checks the values.
//
//   CHAT-LINE-1  An option (`--in 10m`, `--in=10m`) is taken out of the line wherever it stands, so the rest of the line is without it.
//   CHAT-LINE-2  `--` before an option ends the options: what follows is text. Without an option behind it, `--` is text itself.
//   CHAT-LINE-3  A time takes the words that say it: those in front, or the last ones of the line before an argument that takes the rest.

import type { UserRef } from '../message.ts';
import { type Checked, check } from '../schema/check.ts';
import { faultAt } from '../schema/fault.ts';
import { isNamedOnly, isOptional } from '../schema/optional.ts';
import { faultTexts } from './chat-texts.ts';
import type { Language } from './texts.ts';
import { trimUnseen, UNSEEN } from './unseen-edges.ts';

export type Properties = Readonly<Record<string, object>>;

/** Mentioned people, by the word that stands for each of them. */
export type People = ReadonlyMap<string, UserRef>;

/** What the words of a line may refer to. */
export interface Reading {
  readonly people?: People | undefined;
  readonly findTime?: FindTime | undefined;
}

/** Finds the time that a text begins with, ends with, or is as a whole. */
export type FindTime = (text: string, where: 'first' | 'last' | 'whole') => FoundTime | undefined;
export interface FoundTime extends Span {
  /** Epoch milliseconds. */
  readonly time: number;
}

interface Span {
  readonly start: number;
  readonly end: number;
}

interface Word {
  readonly text: string;
  /** Offset of the word in the line. */
  readonly at: number;
  readonly end: number;
  readonly isQuoted: boolean;
}

/** Converts one word to the type of its schema. A word that does not fit is returned unchanged, so the schema check refuses it. */
export function fromWord(schema: unknown, word: string, reading: Reading = {}): unknown {
  const { type, enum: values, items = {} } = (schema ?? {}) as WordSchema;
  if (isUser(schema)) return reading.people?.get(word) ?? word;
  if (isTime(schema)) return reading.findTime?.(word, 'whole')?.time ?? word;
  if (type === 'array') {
    const words = wordsOf(word);
    return words.length > MOST_WORDS ? word : words.map(({ text }) => fromWord(items, text, reading));
  }
  if (type === 'integer' || type === 'number') return /^[-+]?\d+(?:\.\d+)?$/.test(word) ? Number(word) : word;
  if (type === 'boolean')
    return /^(?:yes|y|true|on|1)$/i.test(word) ? true : /^(?:no|n|false|off|0)$/i.test(word) ? false : word;
  if (values !== undefined) return values.find((value) => String(value).toLowerCase() === word.toLowerCase()) ?? word;
  return word;
}

interface WordSchema {
  readonly type?: unknown;
  readonly enum?: readonly unknown[];
  readonly items?: object;
}

/** True for a schema made by `t.user()`. */
export const isUser = (schema: unknown): boolean => formatOf(schema) === 'svc-user';
/** True for a schema made by `t.when()`. */
export const isTime = (schema: unknown): boolean => formatOf(schema) === 'svc-when';

/** The checked arguments of the line after a command's name. */
export function readArguments(
  properties: Properties,
  line: string,
  { language = 'en', ...reading }: Reading & { readonly language?: Language } = {},
): Checked {
  const words = wordsOf(line);
  let isWhole = words.length <= MOST_WORDS;
  const { named, free, cuts } = splitNamed(properties, words, reading);
  const given: Record<string, unknown> = { ...named };
  let rest = free;
  const places = placesOf(properties);
  for (const [at, [name, schema]] of places.entries()) {
    const [first, ...others] = rest;
    if (Object.hasOwn(given, name) || first === undefined) continue;
    if (isRest(schema)) {
      given[name] = trimUnseen(without(cuts, line, first.at));
      rest = [];
      isWhole = true;
    } else if (typeOf(schema) === 'array' && isWhole) {
      given[name] = rest.map((word) => fromWord((schema as WordSchema).items ?? {}, word.text, reading));
      rest = [];
    } else if (isTime(schema) && !first.isQuoted) {
      const mayBeLast = places.slice(at + 1).some(([, behind]) => isRest(behind));
      const found = timeIn({ line, rest, cuts, mayBeLast }, reading.findTime);
      if (found !== undefined) cuts.push(found);
      const isLeftOut = found === undefined && mayBeLast && isOptional(schema);
      if (!isLeftOut) given[name] = found?.time ?? (mayBeLast ? line.slice(first.at).trim() : first.text);
      rest = found === undefined ? (mayBeLast ? rest : others) : rest.filter((word) => !overlaps(word, found));
    } else {
      given[name] = fromWord(schema, first.text, reading);
      rest = others;
    }
  }
  if (rest.length > 0 || !isWhole) {
    const at = (rest[0] ?? words.at(-1))?.at ?? 0;
    const message = faultTexts(language).tooManyWords(line.slice(at, at + MOST_SHOWN));
    return { ok: false, faults: [message], at: [faultAt('', message)] };
  }
  return check({ type: 'object', properties }, given, { language });
}

const overlaps = (word: Word, { start, end }: Span): boolean => word.end > start && word.at < end;

interface TimeOf {
  readonly line: string;
  readonly rest: readonly Word[];
  readonly cuts: readonly Span[];
  readonly mayBeLast: boolean;
}

/** The time that the free words begin or end with, as a span of the line. */
function timeIn({ line, rest, cuts, mayBeLast }: TimeOf, findTime: FindTime = () => undefined): FoundTime | undefined {
  const [first, last] = [rest[0]?.at ?? 0, rest.at(-1)?.end ?? 0];
  const untilCut = Math.min(last, ...cuts.flatMap(({ start }) => (start > first ? [start] : [])));
  const leading = findTime(line.slice(first, untilCut), 'first');
  if (leading !== undefined) return { time: leading.time, start: first, end: first + leading.end };
  if (!mayBeLast || rest.length < 2) return undefined;
  const from = Math.max(first, ...cuts.flatMap(({ end }) => (end < last ? [end] : [])));
  const trailing = findTime(line.slice(from, last), 'last');
  if (trailing === undefined || from + trailing.start <= first) return undefined;
  return { time: trailing.time, start: from + trailing.start, end: last };
}

/** The line from `from` on, without the spans. */
function without(cuts: readonly Span[], line: string, from: number): string {
  let text = '';
  let at = from;
  for (const { start, end } of cuts.toSorted((a, b) => a.start - b.start)) {
    if (end <= at) continue;
    text += line.slice(at, Math.max(at, start));
    at = end + (/^\s*/.exec(line.slice(end, end + MOST_SHOWN))?.[0].length ?? 0);
  }
  return (text + line.slice(at)).trim();
}

/** Arguments that are typed by position. Behind one that takes all words there is no position. */
export function placesOf(properties: Properties): readonly (readonly [string, object])[] {
  const byPlace = Object.entries(properties).filter(
    ([, schema]) => typeOf(schema) !== 'boolean' && !isNamedOnly(schema),
  );
  const tail = byPlace.findIndex(([, schema]) => isTail(schema));
  return tail === -1 ? byPlace : byPlace.slice(0, tail + 1);
}

export const typeOf = (schema: object): unknown => ('type' in schema ? schema.type : undefined);
const formatOf = (schema: unknown): unknown => (schema as { readonly format?: unknown } | undefined)?.format;
export const isRest = (schema: object): boolean => formatOf(schema) === 'svc-rest';
/** It takes all words that are left. */
export const isTail = (schema: object): boolean => isRest(schema) || typeOf(schema) === 'array';

/** Most words of a line, and most entries of a list. A longer line fits only an argument that takes the rest of the line as one text. */
const MOST_WORDS = 1_000;
/** Most characters of surplus words that a fault quotes. */
const MOST_SHOWN = 200;

/** Phone keyboards turn straight quotes into curly ones, and two dashes into one long dash. Unseen characters before a word are not part of it. */
const WORD = new RegExp(`"([^"]*)"|[“„]([^“„”]*)[“”]|([^${UNSEEN}]\\S*)`, 'gu');
const NAMED = /^(?:--|—)/;

function wordsOf(line: string): readonly Word[] {
  const words: Word[] = [];
  for (const match of line.matchAll(WORD)) {
    const text = match[1] ?? match[2] ?? match[3] ?? '';
    const isQuoted = match[3] === undefined;
    const bare = trimUnseen(text);
    // Blanks in quotes were meant.
    const shown = isQuoted && bare === text.trim() ? text : bare;
    words.push({ text: shown, at: match.index, end: match.index + match[0].length, isQuoted });
    if (words.length > MOST_WORDS) break;
  }
  return words;
}

interface Split {
  readonly named: Record<string, unknown>;
  readonly free: readonly Word[];
  /** Spans of the line that options take. */
  readonly cuts: Span[];
}

function splitNamed(properties: Properties, words: readonly Word[], reading: Reading): Split {
  const split = { named: {} as Record<string, unknown>, free: [] as Word[], cuts: [] as Span[] };
  const options = words.map((word) => optionIn(properties, word));
  const last = options.findLastIndex((option) => option !== undefined);
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] as Word;
    const option = options[at];
    if (at < last && !word.isQuoted && word.text === '--') {
      split.cuts.push({ start: word.at, end: word.end });
      split.free.push(...words.slice(at + 1));
      break;
    }
    if (option === undefined) {
      split.free.push(word);
      continue;
    }
    const { name, value } = option;
    const schema = properties[name] ?? {};
    const isFlag = typeOf(schema) === 'boolean' && value === undefined;
    const next = isFlag || value !== undefined ? undefined : words[at + 1];
    split.named[name] = isFlag ? true : fromWord(schema, value ?? next?.text ?? '', reading);
    split.cuts.push({ start: word.at, end: next?.end ?? word.end });
    if (next !== undefined) at += 1;
  }
  return split;
}

/** `--in`, or `--in=10m` with its value. */
function optionIn(
  properties: Properties,
  { text, isQuoted }: Word,
): { readonly name: string; readonly value: string | undefined } | undefined {
  const written = isQuoted ? undefined : text.split(NAMED)[1];
  if (written === undefined) return undefined;
  const sign = written.indexOf('=');
  const name = sign === -1 ? written : written.slice(0, sign);
  if (!Object.hasOwn(properties, name)) return undefined;
  const schema = properties[name] ?? {};
  if (isRest(schema) && !isNamedOnly(schema)) return undefined; // its own name is a word of the text
  return { name, value: sign === -1 ? undefined : written.slice(sign + 1) };
}
