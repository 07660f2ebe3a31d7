// Parses typed commands: recognises a command, reads its arguments, describes their faults. Pure.

import { check } from '../../sdk/schema/check.ts';
import {
  type FindTime,
  fromWord,
  isRest,
  isTime,
  isUser,
  type People,
  readArguments,
} from '../../sdk/text/chat-line.ts';
import { hostTexts } from '../../sdk/text/chat-texts.ts';
import { commandIn } from '../../sdk/text/command-sign.ts';
import { usage } from '../../sdk/text/command-usage.ts';
import type { Language } from '../../sdk/text/texts.ts';
import { trimUnseen, trimWords } from '../../sdk/text/unseen-edges.ts';
import type { CommandCapability } from './capabilities.ts';
import { compilePhrase, matchPhrase, type Phrase } from './phrases.ts';

export type TypedCommand =
  | { readonly kind: 'line'; readonly line: string; readonly people?: People }
  | { readonly kind: 'words'; readonly words: Readonly<Record<string, string>>; readonly people?: People }
  | {
      readonly kind: 'values';
      readonly values: Readonly<Record<string, unknown>>;
      /** The endpoint of the user ids among the values. */
      readonly endpoint: string;
    };

/** The rest of the line or the words of a phrase. Undefined if the text is not this command. */
export function readCommand(
  command: CommandCapability,
  text: string,
  where: { readonly prefix: string; readonly spokenTo: boolean },
): Exclude<TypedCommand, { kind: 'values' }> | undefined {
  const typed = commandIn(text, where.prefix);
  if (typed !== undefined) {
    const behind = lineBehindAlias(command, `${typed.name} ${typed.rest}`);
    if (behind !== undefined) return { kind: 'line', line: behind };
    if (typed.name === command.name || (command.spec.aliases ?? []).includes(typed.name))
      return { kind: 'line', line: typed.rest };
  }
  if (!where.spokenTo || phrasesOf(command.spec).length === 0) return undefined;
  const line = trimUnseen(text);
  if (line.length > LONGEST_PHRASE) return undefined;
  const words = trimWords(line);
  return spokenIn(command, line) ?? (words === line ? undefined : spokenIn(command, words));
}

function spokenIn(command: CommandCapability, line: string): (TypedCommand & { readonly kind: 'words' }) | undefined {
  for (const phrase of phrasesOf(command.spec)) {
    const spans = matchPhrase(phrase, line);
    if (spans === undefined) continue;
    const words = spans.map(({ start, end }, index) => [phrase.names[index] ?? '', line.slice(start, end)] as const);
    return { kind: 'words', words: Object.fromEntries(words) };
  }
  return undefined;
}

/** The text behind an alias of several words. Undefined if it begins with none. */
export function lineBehindAlias({ spec }: CommandCapability, text: string): string | undefined {
  for (const alias of spec.aliases ?? []) {
    const line = alias.includes(' ') ? restBehind(alias, text) : undefined;
    if (line !== undefined) return line;
  }
  return undefined;
}

/** The text behind the words of the alias. */
function restBehind(alias: string, text: string): string | undefined {
  let rest = text;
  for (const word of alias.split(' ')) {
    const [, first = '', behind = ''] = /^(\S+)\s*([\s\S]*)$/.exec(rest) ?? [];
    if (trimUnseen(first) !== word) return undefined;
    rest = behind;
  }
  return rest;
}

/** Longer texts are never matched against phrases, because a command may have many phrases. */
const LONGEST_PHRASE = 4_000;

const compiled = new WeakMap<CommandCapability['spec'], readonly Phrase[]>();

/** Compiled at the first message of the generation. */
function phrasesOf(spec: CommandCapability['spec']): readonly Phrase[] {
  let phrases = compiled.get(spec);
  if (phrases === undefined) {
    phrases = (spec.phrases ?? []).map(compilePhrase);
    compiled.set(spec, phrases);
  }
  return phrases;
}

export type ReadArguments =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly text: string };

/** Bounds the reported faults: a list argument may have one fault a word. */
const MOST_FAULTS = 10;

/** Checked arguments, or the answer to the user: each fault and the usage. */
export function argumentsOf(
  command: CommandCapability,
  typed: TypedCommand,
  {
    prefix,
    findTime,
    language,
  }: { readonly prefix: string; readonly findTime?: FindTime | undefined; readonly language: Language },
): ReadArguments {
  const texts = hostTexts(language);
  const properties = command.spec.args ?? {};
  const checked =
    typed.kind === 'line'
      ? readArguments(properties, typed.line, { people: typed.people, findTime, language })
      : check({ type: 'object', properties }, valuesOf(properties, typed, findTime), { language });
  if (checked.ok) return { ok: true, value: checked.value };
  const faults = checked.faults.slice(0, MOST_FAULTS).map((fault) => String(fault).replace(/^\//, ''));
  const more = checked.faults.length - faults.length;
  if (more > 0) faults.push(texts.moreFaults(more));
  return { ok: false, text: [...faults, texts.usage(usageOf(command, prefix))].join('\n') };
}

export const usageOf = (command: CommandCapability, prefix: string): string =>
  usage(command.name, command.spec.args ?? {}).replace(/^\//, prefix);

function valuesOf(
  properties: Readonly<Record<string, unknown>>,
  typed: Exclude<TypedCommand, { kind: 'line' }>,
  findTime: FindTime | undefined,
): Readonly<Record<string, unknown>> {
  if (typed.kind === 'values') {
    const { values, endpoint } = typed;
    const valueOf = (name: string, value: unknown): unknown => {
      if (typeof value !== 'string') return value;
      const schema = properties[name];
      if (isUser(schema)) return { endpoint, id: value };
      return isTime(schema) ? fromWord(schema, trimUnseen(value), { findTime }) : trimUnseen(value);
    };
    return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, valueOf(name, value)]));
  }
  const words = { ...typed.words };
  const reading = { people: typed.people, findTime };
  const times = Object.keys(properties).filter((name) => isTime(properties[name]) && words[name] === undefined);
  const rest = Object.keys(words).find((name) => isRest(properties[name] ?? {}));
  const read = Object.fromEntries(
    Object.entries(words).map(([name, word]) => [name, fromWord(properties[name], trimUnseen(word), reading)]),
  );
  // "remind me to drink tea tomorrow": the phrase has no place for the time, so the text may end with it.
  const [time] = times;
  const text = rest === undefined ? undefined : words[rest];
  const found = time === undefined || text === undefined ? undefined : findTime?.(text.trimEnd(), 'last');
  if (time === undefined || rest === undefined || text === undefined || found === undefined || found.start === 0)
    return read;
  return { ...read, [time]: found.time, [rest]: text.slice(0, found.start).trim() };
}
