// Parses the arguments of a chat command: by position, by --name, with a list or the rest of the line last. This file converts words to values; the
// schema checks the values.

import type { UserRef } from '../message.ts';
import { type Checked, check } from '../schema/check.ts';
import { faultAt } from '../schema/fault.ts';
import { isOptional } from '../schema/optional.ts';
import { faultTexts } from './chat-texts.ts';
import type { Language } from './texts.ts';

type Properties = Readonly<Record<string, object>>;

/** Mentioned people, by the word that stands for each of them. */
export type People = ReadonlyMap<string, UserRef>;

interface Word {
  readonly text: string;
  /** Offset of the word in the line. */
  readonly at: number;
  readonly isQuoted: boolean;
}

/** Converts one word to the type of its schema. A word that does not fit is returned unchanged, so the schema check refuses it. */
export function fromWord(schema: unknown, word: string, people?: People): unknown {
  const { type, enum: values, items = {} } = (schema ?? {}) as WordSchema;
  if (isUser(schema)) return people?.get(word) ?? word;
  if (type === 'array') {
    const words = wordsOf(word);
    return words.length > MOST_WORDS ? word : words.map(({ text }) => fromWord(items, text, people));
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
export const isUser = (schema: unknown): boolean =>
  (schema as { readonly format?: unknown } | undefined)?.format === 'svc-user';

/** The checked arguments of the line after a command's name. */
export function readArguments(
  properties: Properties,
  line: string,
  { people, language = 'en' }: { readonly people?: People | undefined; readonly language?: Language } = {},
): Checked {
  const words = wordsOf(line);
  let isWhole = words.length <= MOST_WORDS;
  const { named, free } = splitNamed(properties, words, people);
  const given: Record<string, unknown> = { ...named };
  let rest = free;
  for (const [name, schema] of Object.entries(properties)) {
    const [first, ...others] = rest;
    if (Object.hasOwn(given, name) || first === undefined || typeOf(schema) === 'boolean') continue;
    if (isRest(schema)) {
      given[name] = line.slice(first.at).trim();
      rest = [];
      isWhole = true;
    } else if (typeOf(schema) === 'array' && isWhole) {
      given[name] = rest.map((word) => fromWord((schema as WordSchema).items ?? {}, word.text, people));
      rest = [];
    } else {
      given[name] = fromWord(schema, first.text, people);
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

/** How to write a command: `/remind <in> <text…>`. */
export function usage(name: string, properties: Properties): string {
  const parts = Object.entries(properties).map(([key, schema]) => {
    if (typeOf(schema) === 'boolean') return `[--${key}]`;
    const values = (schema as { readonly enum?: readonly unknown[] }).enum;
    const inner = values?.join('|') ?? (typeOf(schema) === 'array' || isRest(schema) ? `${key}…` : key);
    return isOptional(schema) ? `[${inner}]` : `<${inner}>`;
  });
  return [`/${name}`, ...parts].join(' ');
}

const typeOf = (schema: object): unknown => ('type' in schema ? schema.type : undefined);
const isRest = (schema: object): boolean => 'format' in schema && schema.format === 'svc-rest';

/** Most words of a line, and most entries of a list. A longer line fits only an argument that takes the rest of the line as one text. */
const MOST_WORDS = 1_000;
/** Most characters of surplus words that a fault quotes. */
const MOST_SHOWN = 200;

/** Phone keyboards turn straight quotes into curly ones, and two dashes into one long dash. */
const WORD = /"([^"]*)"|[“„]([^“„”]*)[“”]|(\S+)/g;
const NAMED = /^(?:--|—)/;

function wordsOf(line: string): readonly Word[] {
  const words: Word[] = [];
  for (const match of line.matchAll(WORD)) {
    const text = match[1] ?? match[2] ?? match[3] ?? '';
    words.push({ text, at: match.index, isQuoted: match[3] === undefined });
    if (words.length > MOST_WORDS) break;
  }
  return words;
}

function splitNamed(
  properties: Properties,
  words: readonly Word[],
  people: People | undefined,
): { readonly named: Record<string, unknown>; readonly free: readonly Word[] } {
  const named: Record<string, unknown> = {};
  const free: Word[] = [];
  const queue = words.values(); // an iterator: `shift()` on an array would move all remaining words each time
  for (const word of queue) {
    const name = word.isQuoted ? undefined : word.text.split(NAMED)[1];
    if (name === undefined || !Object.hasOwn(properties, name)) {
      free.push(word);
      continue;
    }
    const schema = properties[name] ?? {};
    named[name] = typeOf(schema) === 'boolean' ? true : fromWord(schema, queue.next().value?.text ?? '', people);
  }
  return { named, free };
}
