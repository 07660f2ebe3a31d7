// Finds defaults that their own schema refuses, before such a default is filled in. Defaults that surely fit are recognized without Ajv, which
// takes 30 ms to load. Ajv checks the others.

import { readDuration } from '../text/duration.ts';
import { check } from './check.ts';

type Json = Readonly<Record<string, unknown>>;

/** Names the first default in the schema that does not fit. */
export function faultOfDefaults(schema: Json, path: readonly string[] = []): string | undefined {
  const given = schema['default'];
  if (given !== undefined && !surelyFits(schema, given)) {
    const checked = check(schema, given);
    const where = path.length === 0 ? '' : `${path.join('.')}: `;
    const faults = checked.ok ? [] : checked.faults.map((line) => line.replace(/^value: /, ''));
    if (faults.length > 0) return `has a default that does not fit its own schema: ${where}${faults.join('; ')}`;
  }
  for (const [name, inner] of innerSchemas(schema)) {
    const fault = faultOfDefaults(inner, [...path, name]);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function innerSchemas({ properties, items, additionalProperties }: Json): readonly (readonly [string, Json])[] {
  const named = isObject(properties) ? Object.entries(properties) : [];
  const all: readonly (readonly [string, unknown])[] = [...named, ['[]', items], ['*', additionalProperties]];
  return all.flatMap(([name, inner]) => (isObject(inner) ? [[name, inner] as const] : []));
}

/** True if the schema has only the keywords of `MET`, and the value meets them. */
function surelyFits(schema: Json, value: unknown): boolean {
  return Object.entries(schema).every(([word, said]) => Object.hasOwn(MET, word) && MET[word]?.(value, said) === true);
}

const MET: Readonly<Record<string, (value: unknown, said: unknown) => boolean>> = {
  title: () => true,
  description: () => true,
  default: () => true,
  type: (value, said) => [said].flat().some((type) => isOf(value, type)),
  format: (value, said) =>
    said === 'svc-rest' ||
    (said === 'svc-duration' && (isOf(value, 'integer') || readsAsDuration(value))) ||
    (said === 'svc-when' && isOf(value, 'integer')),
  enum: (value, said) => Array.isArray(said) && said.includes(value),
  pattern: (value, said) => typeof value === 'string' && new RegExp(String(said), 'u').test(value),
  minimum: (value, said) => Number(value) >= Number(said),
  maximum: (value, said) => Number(value) <= Number(said),
  minLength: (value, said) => lengthOf(value) >= Number(said),
  maxLength: (value, said) => lengthOf(value) <= Number(said),
  minItems: (value, said) => lengthOf(value) >= Number(said),
  maxItems: (value, said) => lengthOf(value) <= Number(said),
  items: (value, said) => Array.isArray(value) && isObject(said) && value.every((one) => surelyFits(said, one)),
};

function isOf(value: unknown, type: unknown): boolean {
  if (type === 'integer') return Number.isSafeInteger(value);
  if (type === 'number') return Number.isFinite(value);
  if (type === 'array') return Array.isArray(value);
  return (type === 'string' || type === 'boolean') && typeof value === type;
}

const readsAsDuration = (value: unknown): boolean => typeof value === 'string' && readDuration(value) !== undefined;
const lengthOf = (value: unknown): number =>
  typeof value === 'string' || Array.isArray(value) ? Array.from(value).length : Number.NaN;
const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
