// Translates Ajv's errors for the author of a value: a path, and the expectation there.
import type { ErrorObject } from 'ajv/dist/2020.js';
import { KINDS, type Kind } from './explicit-schema.ts';

export interface Fault {
  /** JSON pointer into the value; empty for the value itself. */
  readonly path: string;
  readonly message: string;
  /** The same without the given value, for answers that must not repeat it. */
  readonly expected: string;
}

type Json = Readonly<Record<string, unknown>>;

/** At most one fault for each path. A fault inside a user, conversation, message or duration is reported for the whole value. */
export function faultsOf(errors: readonly ErrorObject[]): readonly Fault[] {
  // Bounded by the schema: a stranger's list may have any number of such errors.
  const kinds = [...new Set(errors.flatMap((one) => (one.keyword === 'svcKind' ? [`${one.schemaPath}/`] : [])))];
  const faults = new Map<string, Fault>();
  for (const error of errors) {
    if (kinds.some((kind) => error.schemaPath.startsWith(kind))) continue;
    const fault = describe(error);
    if (!faults.has(fault.path)) faults.set(fault.path, fault);
  }
  return [...faults.values()];
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
  if (keyword === 'required') return faultAt(at(params['missingProperty']), 'missing');
  if (keyword === 'additionalProperties') {
    const known = Object.keys((parentSchema['properties'] as object | undefined) ?? {});
    const expected = known.length === 0 ? 'unknown, expected no keys' : `unknown, expected one of ${known.join(', ')}`;
    return faultAt(at(params['additionalProperty']), expected);
  }
  const expected = `expected ${expectation(keyword, params, parentSchema) ?? message}`;
  return faultAt(instancePath, expected, parentSchema['svcKind'] === 'secret' ? '' : got(data));
}

export const faultAt = (path: string, expected: string, given = ''): Fault => ({
  path,
  message: `${expected}${given}`,
  expected,
});

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

/** The given value, if it is short enough to quote. */
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
