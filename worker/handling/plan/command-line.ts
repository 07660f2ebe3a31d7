// Parses typed commands: recognises a command, reads its arguments, describes their faults. Pure.

import { check } from '../../sdk/schema/check.ts';
import { fromWord, isUser, type People, readArguments, usage } from '../../sdk/text/chat-line.ts';
import { hostTexts } from '../../sdk/text/chat-texts.ts';
import type { Language } from '../../sdk/text/texts.ts';
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
  const line = text.trim();
  if (line.startsWith(where.prefix)) {
    const [, name = '', rest = ''] = /^(\S+)\s*([\s\S]*)$/.exec(line.slice(where.prefix.length)) ?? [];
    if (name === command.name || (command.spec.aliases ?? []).includes(name)) return { kind: 'line', line: rest };
  }
  if (!where.spokenTo || line.length > LONGEST_PHRASE) return undefined;
  for (const phrase of phrasesOf(command.spec)) {
    const spans = matchPhrase(phrase, line);
    if (spans === undefined) continue;
    const words = spans.map(({ start, end }, index) => [phrase.names[index] ?? '', line.slice(start, end)] as const);
    return { kind: 'words', words: Object.fromEntries(words) };
  }
  return undefined;
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
  { prefix, language }: { readonly prefix: string; readonly language: Language },
): ReadArguments {
  const texts = hostTexts(language);
  const properties = command.spec.args ?? {};
  const checked =
    typed.kind === 'line'
      ? readArguments(properties, typed.line, { people: typed.people, language })
      : check({ type: 'object', properties }, valuesOf(properties, typed), { language });
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
): Readonly<Record<string, unknown>> {
  if (typed.kind === 'values') {
    const { values, endpoint } = typed;
    const valueOf = (name: string, value: unknown): unknown =>
      typeof value === 'string' && isUser(properties[name]) ? { endpoint, id: value } : value;
    return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, valueOf(name, value)]));
  }
  return Object.fromEntries(
    Object.entries(typed.words).map(([name, word]) => [name, fromWord(properties[name], word, typed.people)]),
  );
}
