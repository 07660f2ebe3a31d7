// Schemas of arguments, configuration, state and foreign payloads. At run time they are plain JSON Schema; TypeBox gives only the types. Importing
// TypeBox costs a plugin over 130 ms of the start. Schemas made by TypeBox are accepted too.
import type {
  Static,
  TArray,
  TBoolean,
  TEnum,
  TInteger,
  TNumber,
  TObject,
  TOptional,
  TProperties,
  TRecord,
  TSchema,
  TString,
  TUnsafe,
} from 'typebox';

export type {
  Static,
  TArray,
  TBoolean,
  TEnum,
  TInteger,
  TNumber,
  TObject,
  TOptional,
  TProperties,
  TRecord,
  TSchema,
  TString,
  TUnsafe,
} from 'typebox';

import type { ConversationRef, MessageRef, UserRef } from '../message.ts';
import type { Secret } from '../secret.ts';
import { isOptional, markOption, markOptional } from './optional.ts';

/** The values of an object with these properties. */
export type Values<P extends TProperties> = Static<TObject<P>>;

/** Notes on a value of any type. */
export interface Note {
  /** The question of a dialog, and the label in the help. */
  readonly title?: string;
  readonly description?: string;
  /** Fills in a missing value; the key is then not required. */
  readonly default?: unknown;
}
/** Limits of a number, both inclusive. */
export interface Range extends Note {
  readonly minimum?: number;
  readonly maximum?: number;
}
/** Limits of a text. */
export interface TextNote extends Note {
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
}
/** Limits of a list. */
export interface ListNote extends Note {
  readonly minItems?: number;
  readonly maxItems?: number;
}

/** The type of `t`. Each method returns plain JSON Schema, with the type of its values. */
export interface SchemaBuilder {
  integer(note?: Range): TInteger;
  number(note?: Range): TNumber;
  boolean(note?: Note): TBoolean;
  string(note?: TextNote): TString;
  /** One of these words. In chat, case does not matter. */
  enum<const V extends readonly string[]>(values: V, note?: Note): TEnum<[...V]>;
  /** A list. As the last argument of a command: all remaining words. */
  array<S extends TSchema>(items: S, note?: ListNote): TArray<S>;
  object<P extends TProperties>(properties: P, note?: Note): TObject<P>;
  /** An object with any keys, and values of one schema. */
  record<S extends TSchema>(values: S, note?: Note): TRecord<'^.*$', S>;
  optional<S extends TSchema>(schema: S): TOptional<S>;
  /** An option of a command: optional, and typed by name only, anywhere in the line: `--in 10m`. */
  option<S extends TSchema>(schema: S): TOptional<S>;
  /** A duration: "10m", "1h30m", "2d" in chat and YAML, milliseconds in code. */
  duration(note?: Note): TUnsafe<number>;
  /** A time of a command or a dialog: "10m", "in 5 minutes", "tomorrow at 9" in chat (zone: `schedule.timezone`), epoch milliseconds in code. */
  when(note?: Note): TUnsafe<number>;
  /** Last argument of a command: the rest of the line as typed. */
  rest(note?: Note): TString;
  /** For configuration only: written as ${NAME}, printed as a mask. */
  secret(note?: Note): TUnsafe<Secret>;
  user(note?: Note): TUnsafe<UserRef>;
  conversation(note?: Note): TUnsafe<ConversationRef>;
  message(note?: Note): TUnsafe<MessageRef>;
}

const builder = {
  integer: (note = {}) => ({ type: 'integer', ...note }),
  number: (note = {}) => ({ type: 'number', ...note }),
  boolean: (note = {}) => ({ type: 'boolean', ...note }),
  string: (note = {}) => ({ type: 'string', ...note }),
  enum: (values: readonly string[], note = {}) => ({ enum: values, ...note }),
  array: (items: object, note = {}) => ({ type: 'array', items, ...note }),
  object: (properties: Readonly<Record<string, object>>, note = {}) => ({
    type: 'object',
    properties,
    required: Object.entries(properties).flatMap(([key, schema]) => (isOptional(schema) ? [] : [key])),
    additionalProperties: false,
    ...note,
  }),
  record: (values: object, note = {}) => ({ type: 'object', additionalProperties: values, ...note }),
  optional: markOptional,
  option: markOption,
  duration: (note = {}) => ({ format: 'svc-duration', type: ['integer', 'string'], ...note }),
  when: (note = {}) => ({ format: 'svc-when', type: 'integer', ...note }),
  rest: (note = {}) => ({ type: 'string', format: 'svc-rest', ...note }),
  secret: (note = {}) => ({ type: 'string', format: 'svc-secret', writeOnly: true, ...note }),
  user: (note = {}) => ({ type: 'object', format: 'svc-user', ...note }),
  conversation: (note = {}) => ({ type: 'object', format: 'svc-conversation', ...note }),
  message: (note = {}) => ({ type: 'object', format: 'svc-message', ...note }),
};

/** Builds schemas. The results are plain JSON Schema; the types are TypeBox's. */
export const t = builder as unknown as SchemaBuilder;
