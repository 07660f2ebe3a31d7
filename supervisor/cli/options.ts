// Reads option values: text, number, or one of a few words.
import { SvcError } from '../../shared/svc-error.ts';

type Options = Readonly<Record<string, unknown>>;

/** The option's text. Undefined if it was not given. */
export function textOption(options: Options, name: string): string | undefined {
  const value = options[name];
  return typeof value === 'string' || typeof value === 'number' ? String(value) || undefined : undefined;
}

/** All texts of an option that may be given more than once. */
export const textsOption = (options: Options, name: string): readonly string[] =>
  [options[name] ?? []].flat().map(String);

/** Throws `usage` unless the option is a whole number of at least `least`. */
export function countOption(options: Options, name: string, least = 1): number | undefined {
  const text = textOption(options, name);
  if (text === undefined) return undefined;
  const count = Number(text);
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(count) || count < least)
    throw new SvcError('usage', `--${name} takes a whole number of at least ${least}`);
  return count;
}

/** Throws `usage` unless the option is one of the words. */
export function wordOption<const W extends string>(options: Options, name: string, words: readonly W[]): W | undefined {
  const text = textOption(options, name);
  if (text === undefined) return undefined;
  const word = words.find((known) => known === text);
  if (word === undefined) throw new SvcError('usage', `--${name} takes ${words.join(' or ')}`);
  return word;
}

/** A query string of the defined values, with its `?`. Empty if there are none. */
export function queryOf(values: Readonly<Record<string, string | number | undefined>>): string {
  const given = Object.entries(values).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]]));
  return given.length === 0 ? '' : `?${new URLSearchParams(given)}`;
}

/** A required positional argument. */
export function textArgument(value: string | readonly string[] | undefined, name: string): string {
  if (typeof value === 'string' && value !== '') return value;
  throw new SvcError('usage', `${name} is missing`);
}
