// The use of Ajv (2020-12, strict): schemas of ours and of TypeBox are made explicit, compiled once, and what Ajv says is put in words.
import { createRequire } from 'node:module';
import type { Ajv2020, AnySchemaObject, ErrorObject, ValidateFunction } from 'ajv/dist/2020.js';
import { isOptional } from './optional.ts';
import { isSecret } from './secret.ts';

export interface Fault {
  /** JSON pointer into the value; empty for the value itself. */
  readonly path: string;
  readonly message: string;
}

type Json = Readonly<Record<string, unknown>>;
type Kind = 'duration' | 'secret' | 'user' | 'conversation' | 'message';

const text = { type: 'string', minLength: 1 };
const fields = (...required: readonly string[]): AnySchemaObject => ({
  type: 'object',
  properties: Object.fromEntries(required.map((key) => [key, text])),
  required,
});
/** What a value of ours looks like once it is converted. */
const KINDS: Readonly<Record<Kind, { readonly is: string; readonly schema: AnySchemaObject }>> = {
  duration: { is: 'a duration like 10m or 1h30m', schema: { type: 'integer', minimum: 0 } },
  secret: { is: 'a secret', schema: {} },
  user: { is: 'a user {endpoint, id}', schema: fields('endpoint', 'id') },
  conversation: {
    is: 'a conversation {endpoint, id}',
    schema: { allOf: [fields('endpoint', 'id'), { type: 'object', properties: { thread: text } }] },
  },
  message: {
    is: 'a message {endpoint, conversation, id}',
    schema: { anyOf: [fields('sent'), fields('endpoint', 'conversation', 'id')] },
  },
};

type Mode = 'all' | 'first';
// Memos of pure computations, not state: compiling a schema takes milliseconds, checking by it microseconds. A generation brings
// new objects with the same schemas, so compiled ones are kept by their text.
const byObject: Readonly<Record<Mode, WeakMap<object, ValidateFunction>>> = {
  all: new WeakMap(),
  first: new WeakMap(),
};
const byText: Readonly<Record<Mode, Map<string, ValidateFunction>>> = { all: new Map(), first: new Map() };
const engines: Partial<Record<Mode, Ajv2020>> = {};

/** What is wrong with a converted value: all faults for people who write it, only the first for what strangers send. */
export function validate(schema: Json, value: unknown, mode: Mode): readonly Fault[] {
  if (isEmpty(schema, value)) return [];
  const run = validatorOf(schema, mode);
  if (run(value)) return [];
  const faults = new Map<string, Fault>();
  for (const error of run.errors ?? []) {
    const fault = describe(error);
    if (!faults.has(fault.path)) faults.set(fault.path, fault);
  }
  return [...faults.values()];
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
  const whole = explicit(schema);
  const text = JSON.stringify(whole);
  const run = byText[mode].get(text) ?? engine(mode).compile(whole);
  byText[mode].set(text, run);
  byObject[mode].set(key, run);
  return run;
}

function engine(mode: Mode): Ajv2020 {
  return (engines[mode] ??= load(mode));
}

function load(mode: Mode): Ajv2020 {
  const require = createRequire(import.meta.url);
  const { Ajv2020: Engine } = require('ajv/dist/2020') as typeof import('ajv/dist/2020.js');
  const { default: addFormats } = require('ajv-formats') as typeof import('ajv-formats');
  const ajv = new Engine({ strict: true, allErrors: mode === 'all', verbose: true, allowUnionTypes: true });
  const kinds = new Map(Object.entries(KINDS).map(([kind, { schema }]) => [kind, ajv.compile(schema)]));
  ajv.addKeyword({
    keyword: 'svcKind',
    validate: (kind: Kind, value: unknown) => (kind === 'secret' ? isSecret(value) : kinds.get(kind)?.(value) === true),
  });
  addFormats.default(ajv);
  return ajv;
}

/** The same schema as Ajv takes it: our kinds as a keyword, required keys listed, other keys refused. */
function explicit(schema: Json): AnySchemaObject {
  const { format, '~optional': _mark, ...rest } = schema;
  const kind = /^svc-(duration|secret|user|conversation|message)$/.exec(String(format))?.[1];
  if (kind !== undefined) return { svcKind: kind };
  const out: Record<string, unknown> = {
    ...rest,
    ...(format === undefined || format === 'svc-rest' ? {} : { format }),
  };
  for (const key of ['items', 'additionalProperties', 'not']) if (isObject(out[key])) out[key] = explicit(out[key]);
  for (const key of ['anyOf', 'oneOf', 'allOf', 'prefixItems'])
    if (Array.isArray(out[key])) out[key] = out[key].map((part: Json) => explicit(part));
  if (isObject(out['patternProperties']))
    out['patternProperties'] = mapValues(out['patternProperties'] as Readonly<Record<string, Json>>, explicit);
  if (!isObject(out['properties'])) return out;
  const properties = out['properties'] as Readonly<Record<string, Json>>;
  return {
    additionalProperties: false,
    required: Object.keys(properties).filter((key) => !isOptional(properties[key] ?? {})),
    ...out,
    properties: mapValues(properties, explicit),
  };
}

function describe({
  keyword,
  instancePath,
  params,
  parentSchema = {},
  message = 'does not fit',
  data,
}: ErrorObject): Fault {
  const at = (key: unknown): string => `${instancePath}/${String(key).replace(/~/g, '~0').replace(/\//g, '~1')}`;
  if (keyword === 'required') return { path: at(params['missingProperty']), message: 'missing' };
  if (keyword === 'additionalProperties') {
    const known = Object.keys((parentSchema['properties'] as object | undefined) ?? {});
    return {
      path: at(params['additionalProperty']),
      message: known.length === 0 ? 'unknown, expected no keys' : `unknown, expected one of ${known.join(', ')}`,
    };
  }
  const expected = expectation(keyword, params, parentSchema) ?? message;
  return {
    path: instancePath,
    message: `expected ${expected}${parentSchema['svcKind'] === 'secret' ? '' : got(data)}`,
  };
}

function expectation(keyword: string, params: Json, schema: Json): string | undefined {
  const limit = String(params['limit']);
  switch (keyword) {
    case 'svcKind':
      return KINDS[schema['svcKind'] as Kind].is;
    case 'type':
      return [params['type']]
        .flat()
        .map((type) => TYPES[String(type)] ?? String(type))
        .join(' or ');
    case 'enum':
      return `one of ${(params['allowedValues'] as readonly unknown[]).join(', ')}`;
    case 'const':
      return JSON.stringify(params['allowedValue']);
    case 'minimum':
      return `at least ${limit}`;
    case 'maximum':
      return `at most ${limit}`;
    case 'minLength':
    case 'maxLength':
      return `${keyword === 'minLength' ? 'at least' : 'at most'} ${limit} characters`;
    case 'minItems':
    case 'maxItems':
      return `${keyword === 'minItems' ? 'at least' : 'at most'} ${limit} items`;
    case 'pattern':
      return `text like ${String(params['pattern'])}`;
    case 'format':
      return `text in the format ${String(params['format'])}`;
    default:
      return undefined;
  }
}

const TYPES: Readonly<Record<string, string>> = {
  string: 'text',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'yes or no',
  array: 'a list',
  object: 'an object',
  null: 'nothing',
};

/** What there was instead, when it is short enough to say. */
function got(value: unknown): string {
  const shown = isObject(value)
    ? 'an object'
    : Array.isArray(value)
      ? `a list of ${value.length}`
      : JSON.stringify(value);
  return shown === undefined || shown.length > 60 ? '' : `, got ${shown}`;
}

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const mapValues = <V, R>(record: Readonly<Record<string, V>>, map: (value: V) => R): Record<string, R> =>
  Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value)]));
