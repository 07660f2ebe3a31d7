// The configuration schema for editors: keys with a default are optional, and any value may be a reference such as `${NAME}`. Pure.
import type { JsonSchema } from './json-schema.ts';

const REFERENCE = {
  type: 'string',
  pattern: '^\\$\\{[A-Za-z_][A-Za-z0-9_]*(:-[^}]*)?\\}$',
  description: 'A reference to the environment.',
} as const;
const SECRET = { pattern: '^\\$\\{[A-Za-z_][A-Za-z0-9_]*\\}$' } as const;

export function publishedSchema(schema: JsonSchema): Readonly<Record<string, unknown>> {
  return { $schema: 'https://json-schema.org/draft/2020-12/schema', ...written(schema) };
}

function written(schema: JsonSchema): Readonly<Record<string, unknown>> {
  const { format, description, default: fallback, ...rest } = schema;
  const note = {
    ...(description === undefined ? {} : { description }),
    ...(fallback === undefined ? {} : { default: fallback }),
  };
  if (format === 'svc-secret') return { ...rest, ...SECRET, ...note };
  if (schema.type === 'object') return { ...rest, ...group(schema), ...note };
  if (schema.type === 'array')
    return { ...rest, ...(schema.items === undefined ? {} : { items: written(schema.items) }), ...note };
  return { anyOf: [rest, REFERENCE], ...note };
}

/** A group may be empty (`key:`), which YAML reads as null. */
function group(schema: JsonSchema): Readonly<Record<string, unknown>> {
  const properties = mapped(schema.properties);
  const patterns = mapped(schema.patternProperties);
  const required = (schema.required ?? []).filter((key) => mustBeGiven(schema.properties?.[key]));
  return {
    ...(mustBeGiven(schema) ? {} : { type: ['object', 'null'] }),
    ...(properties === undefined ? {} : { properties }),
    ...(patterns === undefined ? {} : { patternProperties: patterns }),
    required,
  };
}

/** True for a key without a default, and for a group that contains one. */
const mustBeGiven = (schema: JsonSchema | undefined): boolean =>
  schema?.default === undefined || (schema.required ?? []).some((key) => mustBeGiven(schema.properties?.[key]));

const mapped = (
  schemas: Readonly<Record<string, JsonSchema>> | undefined,
): Readonly<Record<string, unknown>> | undefined =>
  schemas === undefined
    ? undefined
    : Object.fromEntries(Object.entries(schemas).map(([key, schema]) => [key, written(schema)]));
