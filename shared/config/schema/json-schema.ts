// The part of JSON Schema that the configuration code reads, and its description for people.

/** The keywords used by the host's schemas and the SDK's. */
export interface JsonSchema {
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly patternProperties?: Readonly<Record<string, JsonSchema>>;
  readonly additionalProperties?: boolean | JsonSchema;
  readonly required?: readonly string[];
  readonly items?: JsonSchema;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly pattern?: string;
}

/** The schema of a key. Undefined if unknown. */
export function schemaOfKey(schema: JsonSchema | undefined, key: string): JsonSchema | undefined {
  if (schema?.properties !== undefined && Object.hasOwn(schema.properties, key)) return schema.properties[key];
  const pattern = Object.entries(schema?.patternProperties ?? {}).find(([text]) => new RegExp(text, 'u').test(key));
  if (pattern !== undefined) return pattern[1];
  return typeof schema?.additionalProperties === 'object' ? schema.additionalProperties : undefined;
}

/** Completes the phrase "must be": "an integer from 1 to 65535", "one of sqlite", "a list". */
export function expectation(schema: JsonSchema): string {
  if (schema.enum !== undefined)
    return schema.enum.length === 1 ? String(schema.enum[0]) : `one of ${schema.enum.join(', ')}`;
  switch (schema.format) {
    case 'svc-secret':
      return 'a secret, written as a reference like ${NAME}';
    case 'svc-duration':
      return 'a duration like 10m or 1h30m';
    default:
      return ofType(schema);
  }
}

function ofType(schema: JsonSchema): string {
  switch (schema.type) {
    case 'integer':
      return `an integer${range(schema.minimum, schema.maximum)}`;
    case 'number':
      return `a number${range(schema.minimum, schema.maximum)}`;
    case 'boolean':
      return 'true or false';
    case 'string':
      return `a text${range(schema.minLength, schema.maxLength, ' characters')}`;
    case 'array':
      return `a list${range(schema.minItems, schema.maxItems, ' items')}`;
    case 'object':
      return 'a group of keys';
    default:
      return 'another value';
  }
}

function range(low: number | undefined, high: number | undefined, unit = ''): string {
  if (low !== undefined && high !== undefined)
    return unit === '' ? ` from ${low} to ${high}` : ` of ${low} to ${high}${unit}`;
  if (low !== undefined) return unit === '' ? ` from ${low} up` : ` of at least ${low}${unit}`;
  return high === undefined ? '' : unit === '' ? ` up to ${high}` : ` of at most ${high}${unit}`;
}

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
