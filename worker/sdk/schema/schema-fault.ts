// Finds schemas that cannot be compiled, before one is used. Schemas with only the keywords of `t` are known to be good. The others need Ajv, which
// takes 30 ms to load, and most plugins need none at the start.
import { messageOf } from '../../../shared/svc-error.ts';
import { compile } from './validate.ts';

type Json = Readonly<Record<string, unknown>>;

/** The reason why this schema cannot be compiled, or undefined. */
export function faultOfCompiling(schema: Json): string | undefined {
  if (isPlain(schema)) return undefined;
  try {
    compile(schema);
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}

const isNumber = (value: unknown): boolean => typeof value === 'number';
const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isPlainSchema = (value: unknown): boolean => isObject(value) && isPlain(value);
const isAnything = (): boolean => true;

const PLAIN: Readonly<Record<string, (value: unknown) => boolean>> = {
  type: (value) => typeof value === 'string' && TYPES.has(value),
  format: (value) => String(value).startsWith('svc-'),
  title: isAnything,
  description: isAnything,
  default: isAnything,
  writeOnly: isAnything,
  enum: (value) => Array.isArray(value) && value.length > 0 && new Set(value).size === value.length,
  minimum: isNumber,
  maximum: isNumber,
  minLength: isNumber,
  maxLength: isNumber,
  minItems: isNumber,
  maxItems: isNumber,
  items: isPlainSchema,
  properties: (value) => isObject(value) && Object.values(value).every(isPlainSchema),
  required: Array.isArray,
  additionalProperties: (value) => typeof value === 'boolean' || isPlainSchema(value),
};
const TYPES: ReadonlySet<string> = new Set(['string', 'integer', 'number', 'boolean', 'object', 'array', 'null']);

/** True for schemas with only known keywords. Special kinds by format (`svc-duration`, `svc-secret`, …) are known as a whole. */
const isPlain = (schema: Json): boolean =>
  (typeof schema['format'] === 'string' && schema['format'].startsWith('svc-') && schema['format'] !== 'svc-rest') ||
  Object.keys(schema).every((key) => Object.hasOwn(PLAIN, key) && PLAIN[key]?.(schema[key]) === true);
