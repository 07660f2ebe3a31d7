// Checks values against schemas. This file converts values: durations, secrets, references, defaults and unknown keys. Ajv checks the result. Ajv
// is loaded at the first check, because importing it costs 30 ms of the start.
//
//   SDK-SCHEMA-1  The result has every default, and no key that the schema does not name.
//   SDK-SCHEMA-2  An unknown key is refused. With `open` it is dropped, because foreign payloads grow.
//   SDK-SCHEMA-3  A fault names path and expectation. It never holds a secret, and other values only if they are short.
//   SDK-SCHEMA-4  A value that JSON would lose is refused if the schema names its key. A value with `toJSON` (a date) counts as its JSON.
import type { Static, TSchema } from 'typebox';
import { personRef } from '../message.ts';
import { isSecret, secret } from '../secret.ts';
import { readDuration } from '../text/duration.ts';
import { NotPlain, pathTo, plainData, typeName } from '../text/plain-data.ts';
import type { Language } from '../text/texts.ts';
import { type Fault, faultAt } from './fault.ts';
import { validate } from './validate.ts';

export type Checked =
  | { readonly ok: true; readonly value: unknown }
  | {
      readonly ok: false;
      /** One line for each fault: `days: expected at least 1, got 0`. */
      readonly faults: readonly string[];
      readonly at: readonly Fault[];
    };

type Json = Readonly<Record<string, unknown>>;

/** The converted value, or its faults. */
export function check(
  schema: unknown,
  value: unknown,
  { open = false, language = 'en' }: { readonly open?: boolean; readonly language?: Language } = {},
): Checked {
  let converted: unknown;
  try {
    converted = convert(schema as Json, value, open);
  } catch (error) {
    if (error instanceof NotPlain) return refused([notPlain(error.value, value)]);
    throw error;
  }
  const at = validate(schema as Json, converted, { mode: open ? 'first' : 'all', language });
  return at.length === 0 ? { ok: true, value: converted } : refused(at);
}

const refused = (at: readonly Fault[]): Checked => ({
  ok: false,
  at,
  faults: at.map(({ path, message }) => lineOf(path, message)),
});

const notPlain = (lost: object, inside: unknown): Fault =>
  faultAt(pathTo(lost, inside) ?? '', 'expected plain data', `, got a ${typeName(lost)}, which JSON cannot hold`);

/** A fault as one line. */
export const lineOf = (path: string, text: string): string => `${path === '' ? 'value' : path.slice(1)}: ${text}`;

/** Checks a foreign value and drops keys that the schema does not name. Throws an error with code `schema_mismatch`. */
export function parse<S extends TSchema>(schema: S, value: unknown): Static<S> {
  const checked = check(schema, value, { open: true });
  if (!checked.ok) throw Object.assign(new Error(checked.faults.join('; ')), { code: 'schema_mismatch' });
  return checked.value as Static<S>;
}

/** Converts a value to the form that its schema describes. Throws NotPlain. */
function convert(schema: Json, given: unknown, open: boolean): unknown {
  const value = plainData(given === undefined && 'default' in schema ? copyOf(schema['default']) : given);
  switch (schema['format']) {
    case 'svc-duration':
      return typeof value === 'string' ? (readDuration(value) ?? value) : value;
    case 'svc-secret':
      if (typeof value === 'string') return secret(value);
      return value === undefined || isSecret(value) ? value : null;
    case 'svc-user':
      return isObject(value) ? personRef(pick(value, ['endpoint', 'id'])) : value;
    case 'svc-conversation':
      return isObject(value) ? pick(value, ['endpoint', 'id', 'thread']) : value;
    case 'svc-message':
      return isObject(value) ? pick(value, 'sent' in value ? ['sent'] : ['endpoint', 'conversation', 'id']) : value;
  }
  const { items } = schema;
  if (Array.isArray(value) && isObject(items)) return value.map((item) => convert(items, item, open));
  return isObject(value) ? convertObject(schema, value, open) : value;
}

function convertObject(schema: Json, value: Json, open: boolean): unknown {
  const properties = isObject(schema['properties']) ? schema['properties'] : {};
  const others = valuesOf(schema);
  const isClosed = open && 'properties' in schema && schema['additionalProperties'] !== true;
  const result: Record<string, unknown> = {};
  for (const key of Object.keys(properties)) {
    const converted = convert(properties[key] as Json, Object.hasOwn(value, key) ? value[key] : undefined, open);
    if (converted !== undefined) put(result, key, converted);
  }
  for (const key of Object.keys(value)) {
    if (Object.hasOwn(properties, key)) continue;
    if (others !== undefined) put(result, key, convert(others, value[key], open));
    else if (!isClosed) put(result, key, value[key]);
  }
  return result;
}

/** Sets an own property of any name. Assigning `__proto__` would change the prototype. */
function put(target: Record<string, unknown>, key: string, value: unknown): void {
  if (key === '__proto__')
    Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
  else target[key] = value;
}

/** The schema of a record's values, in the form of `t` or of TypeBox. */
function valuesOf({ additionalProperties, patternProperties }: Json): Json | undefined {
  if (isObject(additionalProperties)) return additionalProperties;
  const pattern: unknown = isObject(patternProperties) ? Object.values(patternProperties)[0] : undefined;
  return isObject(pattern) ? pattern : undefined;
}

/** Copies lists and objects, because one default fills in many values. */
const copyOf = (value: unknown): unknown => (typeof value === 'object' ? structuredClone(value) : value);
const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const pick = (value: Json, keys: readonly string[]): Json =>
  Object.fromEntries(keys.flatMap((key) => (value[key] === undefined ? [] : [[key, value[key]]])));
