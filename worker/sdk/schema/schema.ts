// Schemas of arguments, configuration, state and foreign payloads: plain JSON Schema at run time, TypeBox gives the types alone.
// Importing TypeBox costs a plugin over 130 ms of start; schemas made by it are taken as well.
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
import { isOptional, markOptional } from './optional.ts';

/** The values that an object of these properties holds. */
export type Values<P extends TProperties> = Static<TObject<P>>;

/** What may be said of any value. */
export interface Note {
  /** What a dialog asks, and what help shows. */
  readonly title?: string;
  readonly description?: string;
  /** Filled in where nothing was given; the key is then not required. */
  readonly default?: unknown;
}
/** Of a number, both ends included. */
export interface Range extends Note {
  readonly minimum?: number;
  readonly maximum?: number;
}
/** Of a text. */
export interface TextNote extends Note {
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
}
/** Of a list. */
export interface ListNote extends Note {
  readonly minItems?: number;
  readonly maxItems?: number;
}

/** `t`: each method gives plain JSON Schema with the type of its values. */
export interface SchemaBuilder {
  integer(note?: Range): TInteger;
  number(note?: Range): TNumber;
  boolean(note?: Note): TBoolean;
  string(note?: TextNote): TString;
  /** One of these words; in chat their case does not matter. */
  enum<const V extends readonly string[]>(values: V, note?: Note): TEnum<[...V]>;
  /** As the last argument of a command: all words that are left. */
  array<S extends TSchema>(items: S, note?: ListNote): TArray<S>;
  object<P extends TProperties>(properties: P, note?: Note): TObject<P>;
  /** Any keys, one kind of value. */
  record<S extends TSchema>(values: S, note?: Note): TRecord<'^.*$', S>;
  optional<S extends TSchema>(schema: S): TOptional<S>;
  /** "10m", "1h30m", "2d" in chat and YAML, milliseconds in code. */
  duration(note?: Note): TUnsafe<number>;
  /** Last argument: the rest of the line as typed. */
  rest(note?: Note): TString;
  /** Configuration only: written as ${NAME}, printed as a mask. */
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
  duration: (note = {}) => ({ format: 'svc-duration', type: ['integer', 'string'], ...note }),
  rest: (note = {}) => ({ type: 'string', format: 'svc-rest', ...note }),
  secret: (note = {}) => ({ type: 'string', format: 'svc-secret', writeOnly: true, ...note }),
  user: (note = {}) => ({ type: 'object', format: 'svc-user', ...note }),
  conversation: (note = {}) => ({ type: 'object', format: 'svc-conversation', ...note }),
  message: (note = {}) => ({ type: 'object', format: 'svc-message', ...note }),
};

/** Builds schemas. What it returns is plain JSON Schema; the types are TypeBox's. */
export const t = builder as unknown as SchemaBuilder;
