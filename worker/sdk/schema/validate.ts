// Whether a converted value fits its schema. Schemas are compiled once: by the build for what comes with svc, else at their first use.
import type { Ajv2020, ValidateFunction } from 'ajv/dist/2020.js';
import { createEngine, type Mode } from './ajv-engine.ts';
import { explicitSchema } from './explicit-schema.ts';
import { type Fault, faultsOf } from './fault.ts';
import { PRECOMPILED } from './precompiled.ts';

type Json = Readonly<Record<string, unknown>>;

// Memos of pure computations, not state: compiling a schema takes milliseconds, checking by it microseconds. A generation brings
// new objects with the same schemas, so compiled ones are kept by their text.
const byObject: Readonly<Record<Mode, WeakMap<object, ValidateFunction>>> = {
  all: new WeakMap(),
  first: new WeakMap(),
};
const byText: Readonly<Record<Mode, Map<string, ValidateFunction>>> = { all: new Map(), first: new Map() };
const engines: Partial<Record<Mode, Ajv2020>> = {};

/** What is wrong with the value; empty when it fits. */
export function validate(schema: Json, value: unknown, mode: Mode): readonly Fault[] {
  if (isEmpty(schema, value)) return [];
  const run = validatorOf(schema, mode);
  return run(value) ? [] : faultsOf(run.errors ?? []);
}

// A plugin without configuration or a command without arguments loads nothing.
const isEmpty = (schema: Json, value: unknown): boolean =>
  isObject(schema['properties']) &&
  Object.keys(schema['properties']).length === 0 &&
  isObject(value) &&
  Object.keys(value).length === 0;

function validatorOf(schema: Json, mode: Mode): ValidateFunction {
  // Callers wrap the same properties in a new object each time: these are the key then.
  const { type: _type, properties, additionalProperties = false, ...others } = schema;
  const isWrapper = isObject(properties) && additionalProperties === false && Object.keys(others).length === 0;
  const key = isWrapper ? properties : schema;
  const known = byObject[mode].get(key);
  if (known !== undefined) return known;

  const explicit = explicitSchema(schema);
  const text = JSON.stringify(explicit);
  const run = byText[mode].get(text) ?? PRECOMPILED[mode][text] ?? engine(mode).compile(explicit);
  byText[mode].set(text, run);
  byObject[mode].set(key, run);
  return run;
}

/** Throws what is wrong with the schema itself. */
export function compile(schema: Json): void {
  validatorOf(schema, 'all');
}

function engine(mode: Mode): Ajv2020 {
  return (engines[mode] ??= createEngine(mode));
}

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
