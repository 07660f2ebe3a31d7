// Checking of values against schemas. Our code converts (durations, secrets, references, defaults, keys that nobody named);
// whether the result fits is said by Ajv, which is loaded at the first check, because importing it costs 30 ms of start.
//
//   C1  What is returned has every default and no key that the schema does not name.
//   C2  An unnamed key is refused; with `open` it is dropped: foreign payloads grow.
//   C3  A fault names path and expectation. Secrets are never in it, other values only when short.
//   C4  What JSON would keep nothing of is refused where the schema names it; what says its JSON itself (a date) is that.
import type { Static, TSchema } from 'typebox';
import { personRef } from '../message.ts';
import { isSecret, secret } from '../secret.ts';
import { readDuration } from '../text/duration.ts';
import { NotPlain, pathTo, plainData, typeName } from '../text/plain-data.ts';
import { type Fault, faultAt } from './fault.ts';
import { validate } from './validate.ts';

export type Checked =
  | { readonly ok: true; readonly value: unknown }
  | {
      readonly ok: false;
      /** One line a fault: `days: expected at least 1, got 0`. */
      readonly faults: readonly string[];
      readonly at: readonly Fault[];
    };

type Json = Readonly<Record<string, unknown>>;

/** The value as its schema wants it, or what is wrong with it. */
export function check(schema: unknown, value: unknown, { open = false }: { readonly open?: boolean } = {}): Checked {
  let converted: unknown;
  try {
    converted = convert(schema as Json, value, open);
  } catch (error) {
    if (error instanceof NotPlain) return refused([notPlain(error.value, value)]);
    throw error;
  }
  const at = validate(schema as Json, converted, open ? 'first' : 'all');
  return at.length === 0 ? { ok: true, value: converted } : refused(at);
}

const refused = (at: readonly Fault[]): Checked => ({
  ok: false,
  at,
  faults: at.map(({ path, message }) => lineOf(path, message)),
});

const notPlain = (lost: object, inside: unknown): Fault =>
  faultAt(pathTo(lost, inside) ?? '', 'expected plain data', `, got a ${typeName(lost)}, which JSON cannot hold`);

/** One line of a fault. */
export const lineOf = (path: string, text: string): string => `${path === '' ? 'value' : path.slice(1)}: ${text}`;

/** A foreign value, checked; keys that the schema does not name are dropped. Throws an error with code `schema_mismatch`. */
export function parse<S extends TSchema>(schema: S, value: unknown): Static<S> {
  const checked = check(schema, value, { open: true });
  if (!checked.ok) throw Object.assign(new Error(checked.faults.join('; ')), { code: 'schema_mismatch' });
  return checked.value as Static<S>;
}

/** Throws NotPlain. */
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

/** An own property whatever its name is: an assignment of `__proto__` would change what the object inherits. */
function put(target: Record<string, unknown>, key: string, value: unknown): void {
  if (key === '__proto__')
    Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
  else target[key] = value;
}

/** The schema of the values of a record, in our form or in TypeBox's. */
function valuesOf({ additionalProperties, patternProperties }: Json): Json | undefined {
  if (isObject(additionalProperties)) return additionalProperties;
  const pattern: unknown = isObject(patternProperties) ? Object.values(patternProperties)[0] : undefined;
  return isObject(pattern) ? pattern : undefined;
}

/** A default is shared by all values that it fills in: lists and objects are copied. */
const copyOf = (value: unknown): unknown => (typeof value === 'object' ? structuredClone(value) : value);
const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const pick = (value: Json, keys: readonly string[]): Json =>
  Object.fromEntries(keys.flatMap((key) => (value[key] === undefined ? [] : [[key, value[key]]])));
