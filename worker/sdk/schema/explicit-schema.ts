// A schema in the form that Ajv takes. `t` and TypeBox express some things by marks and formats; here they become keywords.
import { isOptional } from './optional.ts';

type Json = Readonly<Record<string, unknown>>;
export type Kind = 'duration' | 'when' | 'secret' | 'user' | 'conversation' | 'message';

const text = { type: 'string', pattern: '^[\\s\\S]' };
const fields = (...required: readonly string[]): Json => ({
  type: 'object',
  properties: Object.fromEntries(required.map((key) => [key, text])),
  required,
});

const LATEST_MS = 8.64e15; // the largest time value of ECMAScript

/** The converted form of each special kind. */
export const KINDS: Readonly<Record<Kind, { readonly schema: Json }>> = {
  duration: { schema: { type: 'integer', minimum: 0 } },
  when: { schema: { type: 'integer', minimum: -LATEST_MS, maximum: LATEST_MS } },
  secret: { schema: { type: 'object' } },
  user: { schema: fields('endpoint', 'id') },
  conversation: {
    schema: { allOf: [fields('endpoint', 'id'), { type: 'object', properties: { thread: text } }] },
  },
  message: {
    schema: { anyOf: [fields('sent'), fields('endpoint', 'conversation', 'id')] },
  },
};

/** The same schema with special kinds as the keyword `svcKind`, required keys listed, and other keys refused. */
export function explicitSchema(schema: Json): Json {
  const { format, '~optional': _mark, ...rest } = schema;
  const kind = /^svc-(duration|when|secret|user|conversation|message)$/.exec(String(format))?.[1];
  if (kind !== undefined) return { svcKind: kind };
  const out: Record<string, unknown> = {
    ...rest,
    ...(format === undefined || format === 'svc-rest' ? {} : { format }),
  };
  for (const key of ['items', 'additionalProperties', 'not'])
    if (isObject(out[key])) out[key] = explicitSchema(out[key]);
  for (const key of ['anyOf', 'oneOf', 'allOf', 'prefixItems'])
    if (Array.isArray(out[key])) out[key] = out[key].map((part: Json) => explicitSchema(part));
  if (isObject(out['patternProperties']))
    out['patternProperties'] = mapValues(out['patternProperties'] as Readonly<Record<string, Json>>, explicitSchema);
  if (!isObject(out['properties'])) return out;
  const properties = out['properties'] as Readonly<Record<string, Json>>;
  return {
    additionalProperties: false,
    required: Object.keys(properties).filter((key) => !isOptional(properties[key] ?? {})),
    ...out,
    properties: mapValues(properties, explicitSchema),
  };
}

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const mapValues = <V, R>(record: Readonly<Record<string, V>>, map: (value: V) => R): Record<string, R> =>
  Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value)]));
