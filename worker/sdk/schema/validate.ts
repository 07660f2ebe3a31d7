// Validates converted values. A schema is compiled once: svc's own schemas by the build, the others at their first use.
import type { Ajv2020, ValidateFunction } from 'ajv/dist/2020.js';
import { faultTexts } from '../text/chat-texts.ts';
import type { Language } from '../text/texts.ts';
import { createEngine, type Mode } from './ajv-engine.ts';
import { explicitSchema } from './explicit-schema.ts';
import { type Fault, faultsOf } from './fault.ts';
import { PRECOMPILED } from './precompiled.ts';

type Json = Readonly<Record<string, unknown>>;

// Caches of a pure function: compiling a schema takes milliseconds, a check microseconds. The second key is the schema's text, because a generation
// brings new objects with the same schemas.
const byObject: Readonly<Record<Mode, WeakMap<object, ValidateFunction>>> = {
  all: new WeakMap(),
  first: new WeakMap(),
};
const byText: Readonly<Record<Mode, Map<string, ValidateFunction>>> = { all: new Map(), first: new Map() };
const engines: Partial<Record<Mode, Ajv2020>> = {};

/** The faults of the value; empty if it fits. */
export function validate(
  schema: Json,
  value: unknown,
  { mode, language }: { readonly mode: Mode; readonly language: Language },
): readonly Fault[] {
  if (isEmpty(schema, value)) return [];
  const run = validatorOf(schema, mode);
  return run(value) ? [] : faultsOf(run.errors ?? [], faultTexts(language));
}

// A plugin without configuration, or a command without arguments, does not load Ajv.
const isEmpty = (schema: Json, value: unknown): boolean =>
  isObject(schema['properties']) &&
  Object.keys(schema['properties']).length === 0 &&
  isObject(value) &&
  Object.keys(value).length === 0;

function validatorOf(schema: Json, mode: Mode): ValidateFunction {
  // Callers wrap the same `properties` in a new object each time, so `properties` is the cache key then.
  const { type: _type, properties, additionalProperties = false, ...others } = schema;
  const isWrapper = isObject(properties) && additionalProperties === false && Object.keys(others).length === 0;
  const key = isWrapper ? properties : schema;
  const known = byObject[mode].get(key);
  if (known !== undefined) return known;

  const explicit = explicitSchema(schema);
  const text = JSON.stringify(explicit);
  const run = byText[mode].get(text) ?? PRECOMPILED[mode][text]?.() ?? engine(mode).compile(explicit);
  byText[mode].set(text, run);
  byObject[mode].set(key, run);
  return run;
}

/** Throws the fault of the schema itself. */
export function compile(schema: Json): void {
  validatorOf(schema, 'all');
}

function engine(mode: Mode): Ajv2020 {
  return (engines[mode] ??= createEngine(mode));
}

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
