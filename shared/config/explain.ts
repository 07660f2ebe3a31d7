// Turns validator errors into messages for people: the key, the expected value, the nearest valid key. One fault for each path.
//
// No library is used: the existing ones compare keys of any length, suggest distant words, and describe types without their bounds.
import type { ErrorObject } from 'ajv';
import { blankBehind, dotted, type Finding, pointerTo, printable } from './fault.ts';
import { nearValue } from './near-value.ts';
import { nearest } from './nearest.ts';
import type { ResolvedReference } from './resolve.ts';
import { expectation, isRecord, type JsonSchema, schemaOfKey } from './schema/json-schema.ts';

export interface Explained {
  readonly root: JsonSchema;
  readonly value: unknown;
  /** The reference behind a value. Messages show the variable's name instead of its value. */
  reference(path: string): ResolvedReference | undefined;
}

/** Above this many unknown keys no suggestions are made: each compares with every known key. */
const MOST_GUESSES = 100;
const SHOWN_NAMES = 3;

/** Findings in the order of the errors. */
export function explain(errors: readonly ErrorObject[], context: Explained): Finding[] {
  const byPath = new Map<string, Finding>();
  for (const error of errors) {
    const finding = explainOne(error, context, byPath.size < MOST_GUESSES);
    if (!byPath.has(finding.path)) byPath.set(finding.path, finding);
  }
  return [...byPath.values()];
}

function explainOne(error: ErrorObject, context: Explained, guesses: boolean): Finding {
  const params = error.params as Readonly<Record<string, unknown>>;
  const path = error.instancePath;
  const schema = schemaAt(context.root, path);
  if (error.keyword === 'additionalProperties') {
    const key = pointerTo(path, String(params['additionalProperty']));
    const value = valueAt(context.value, key);
    return guesses
      ? unknownKey(key, { schema, root: context.root, value })
      : { path: key, message: 'is not a key here' };
  }
  if (error.keyword === 'required') {
    const key = String(params['missingProperty']);
    const wanted = schemaOfKey(schema, key);
    return {
      path: pointerTo(path, key),
      message: `is missing; it must be ${expectation(wanted ?? {})}`,
      secret: wanted?.format === 'svc-secret',
    };
  }
  return wrongValue(path, schema ?? {}, {
    keyword: error.keyword,
    value: valueAt(context.value, path),
    reference: context.reference(path),
  });
}

/** A value that does not match its schema. */
function wrongValue(
  path: string,
  schema: JsonSchema,
  found: { keyword: string; value: unknown; reference: ResolvedReference | undefined },
): Finding {
  const origin = found.reference === undefined ? undefined : originOf(found.reference);
  const got = origin === undefined ? `, not ${show(found.value)}` : `; ${origin} does not fit`;
  const shape = found.keyword === 'pattern' && schema.description !== undefined ? `: ${schema.description}` : '';
  const message =
    shape === '' ? `must be ${expectation(schema)}${got}` : `does not fit (${origin ?? show(found.value)})${shape}`;
  const [, key] = /^(\w+):\S/.exec(String(found.reference?.text ?? found.value)) ?? [];
  if (key !== undefined && schema.properties?.[key] !== undefined) return { path, message: message + blankBehind(key) };
  const words = (schema.enum ?? []).map(String);
  const word = typeof found.value === 'string' ? nearest(found.value, words) : undefined;
  const suggestion = origin === undefined ? (word ?? nearValue(found.value, schema)) : undefined;
  return suggestion === undefined ? { path, message } : { path, message, suggestion };
}

/** Names the variables that gave the value, or whose default it is. */
export function originOf({ names, taken }: ResolvedReference): string {
  const all = [...new Set(taken.length > 0 ? taken : names)];
  const shown = all.slice(0, SHOWN_NAMES).join(' and ');
  return `the ${taken.length > 0 ? 'value' : 'default'} of ${shown}${all.length > SHOWN_NAMES ? ' and others' : ''}`;
}

export interface UnknownKey {
  /** The schema of its group. */
  readonly schema: JsonSchema | undefined;
  /** The schema in which the key is looked for elsewhere. */
  readonly root?: JsonSchema;
  readonly value?: unknown;
}

/** A key that the schema does not know. Suggests the nearest key of its group, or the same key elsewhere, if the value fits there. */
export function unknownKey(path: string, { schema, root, value }: UnknownKey): Finding {
  const key = path
    .slice(path.lastIndexOf('/') + 1)
    .replaceAll('~1', '/')
    .replaceAll('~0', '~');
  const group = path.slice(0, path.lastIndexOf('/'));
  if (schema?.patternProperties !== undefined) {
    return {
      path,
      message: `${printable(key)} is not a name that is taken here: a small letter, then small letters, digits and dashes, 63 at most`,
    };
  }
  const known = Object.keys(schema?.properties ?? {});
  const near = nearest(key, known);
  const suggestion = near === undefined ? elsewhere(root, { key, value }, '') : dotted(pointerTo(group, near));
  const message =
    suggestion === undefined ? `is not a key here; known are ${known.join(', ') || 'none'}` : 'is not a key here';
  return suggestion === undefined ? { path, message } : { path, message, suggestion };
}

interface Sought {
  readonly key: string;
  readonly value: unknown;
}

function elsewhere(schema: JsonSchema | undefined, sought: Sought, at: string): string | undefined {
  for (const [name, inner] of Object.entries(schema?.properties ?? {})) {
    const path = at === '' ? name : `${at}.${name}`;
    if (name === sought.key && isLike(sought.value, inner)) return path;
    const deeper = elsewhere(inner, sought, path);
    if (deeper !== undefined) return deeper;
  }
  return undefined;
}

/** Whether a value has the shape of this schema. An empty list or group has none, so it was not meant for a key elsewhere. */
function isLike(value: unknown, schema: JsonSchema): boolean {
  const { type, items, properties = {} } = schema;
  if (Array.isArray(value))
    return type === 'array' && items !== undefined && value.length > 0 && isLike(value[0], items);
  if (isRecord(value)) {
    const keys = Object.keys(value);
    return type === 'object' && keys.length > 0 && keys.every((key) => Object.hasOwn(properties, key));
  }
  return value !== null && value !== undefined && type !== 'array' && type !== 'object';
}

const LOOKS_TYPED = /^(-?\d{1,30}(\.\d{1,30})?|true|false)$/;

export function show(value: unknown): string {
  if (value === null || value === undefined) return 'empty';
  if (Array.isArray(value)) return 'a list';
  if (isRecord(value)) return 'a group of keys';
  if (typeof value !== 'string') return JSON.stringify(value);
  // A text that looks like a number is shown in quotes. Otherwise it would look like the expected value.
  return LOOKS_TYPED.test(value) ? `the text "${value}"` : printable(value) || 'an empty text';
}

const partsOf = (path: string): string[] =>
  path
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));

/** The schema for a path. */
export function schemaAt(root: JsonSchema, path: string): JsonSchema | undefined {
  let schema: JsonSchema | undefined = root;
  for (const part of partsOf(path)) schema = schema?.type === 'array' ? schema.items : schemaOfKey(schema, part);
  return schema;
}

/** The value at a path of a plain tree. */
export function valueAt(root: unknown, path: string): unknown {
  let value: unknown = root;
  for (const part of partsOf(path)) {
    if (Array.isArray(value)) value = value[Number(part)];
    else value = isRecord(value) && Object.hasOwn(value, part) ? value[part] : undefined;
  }
  return value;
}
