// Describes the arguments of a command, as `chat-line.ts` reads them: the usage, and one line an argument for the help.
import { isOptional } from '../schema/optional.ts';
import { isRest, isTail, type Properties, placesOf, typeOf } from './chat-line.ts';

/** An argument in a usage and in the help. */
export interface ArgumentUsage {
  /** `--in <duration>`, `text`. */
  readonly usage: string;
  readonly description: string;
}

/** How to write a command: `/remind [--loud] <when> <text…>`. Options stand before the argument that takes the rest of the line. */
export function usage(name: string, properties: Properties): string {
  const parts = writtenOrder(properties).map(([key, schema, isOption]) => {
    if (!isOption) return isOptional(schema) ? `[${placeName(key, schema)}]` : `<${placeName(key, schema)}>`;
    const option = optionUsage(key, schema);
    return isOptional(schema) || typeOf(schema) === 'boolean' ? `[${option}]` : option;
  });
  return [`/${name}`, ...parts].join(' ');
}

/** The arguments that have a description or a title, in the order of the usage. */
export const describedArguments = (properties: Properties): readonly ArgumentUsage[] =>
  writtenOrder(properties).flatMap(([key, schema, isOption]) => {
    const { title, description = title } = schema as { readonly title?: string; readonly description?: string };
    return description === undefined
      ? []
      : [{ usage: isOption ? optionUsage(key, schema) : placeName(key, schema), description }];
  });

type Argument = readonly [key: string, schema: object, isOption: boolean];

function writtenOrder(properties: Properties): readonly Argument[] {
  const places = new Set(placesOf(properties).map(([key]) => key));
  const all = Object.entries(properties).map(([key, schema]): Argument => [key, schema, !places.has(key)]);
  const tail = all.findIndex(([key, schema]) => places.has(key) && isTail(schema));
  return tail === -1 ? all : [...all.slice(0, tail), ...all.slice(tail + 1), ...all.slice(tail, tail + 1)];
}

const placeName = (key: string, schema: object): string => choicesOf(schema) ?? (isTail(schema) ? `${key}…` : key);

function optionUsage(key: string, schema: object): string {
  if (typeOf(schema) === 'boolean') return `--${key}`;
  const { type, format } = schema as { readonly type?: unknown; readonly format?: string };
  const kind = format?.startsWith('svc-') === true && !isRest(schema) ? format.slice('svc-'.length) : undefined;
  return `--${key} <${choicesOf(schema) ?? kind ?? OPTION_VALUES[String(type)] ?? key}>`;
}

const OPTION_VALUES: Readonly<Record<string, string>> = {
  string: 'text',
  integer: 'number',
  number: 'number',
  array: 'list',
};

const choicesOf = (schema: object): string | undefined =>
  (schema as { readonly enum?: readonly unknown[] }).enum?.join('|');
