// The keys of each registration and the form of their values, for plain JavaScript.
// A misspelt key would have no effect, and a missing one would fail only when a user types the command.
import type { Capability } from '../../handling/plan/capabilities.ts';
import { faultOfDefaults } from '../../sdk/schema/default-fault.ts';
import { faultOfCompiling } from '../../sdk/schema/schema-fault.ts';
import {
  ANY,
  FLAG,
  type Form,
  FUNCTION,
  faultOfShape,
  isObject,
  type Shape,
  TEXT,
  TEXTS,
} from '../../sdk/schema/shape.ts';

type Spec = Readonly<Record<string, unknown>>;

const SCHEMA: Form = (value) => {
  if (!isObject(value)) return 'has to be a schema, such as t.object({ … })';
  return faultOfUse(value) ?? faultOfDefaults(value);
};
const SCHEMAS: Form = (value) => faultOfSchemas(value) ?? faultOfDefaults({ properties: value });

const OPTIONS = { timeoutMs: ANY, attempts: ANY, formerly: TEXTS } as const;
const SHAPES: Readonly<Record<Capability['kind'], Shape>> = {
  command: {
    needed: { summary: TEXT },
    other: { ...OPTIONS, aliases: TEXTS, who: ANY, examples: TEXTS, args: SCHEMAS, phrases: TEXTS },
  },
  on: {
    needed: {},
    other: { ...OPTIONS, on: ANY, name: TEXT, text: ANY, where: ANY, addressed: FLAG, order: ANY },
  },
  action: { needed: { data: SCHEMAS }, other: OPTIONS },
  dialog: { needed: { answers: SCHEMAS }, other: { ...OPTIONS, expiresMs: ANY, steps: ANY } },
  task: { needed: { data: SCHEMAS }, other: { ...OPTIONS, lane: FUNCTION } },
  cron: { needed: { at: TEXT }, other: { ...OPTIONS, timezone: TEXT, missed: ANY } },
  webhook: {
    needed: { verify: FUNCTION, delivery: FUNCTION, body: SCHEMA },
    other: { ...OPTIONS, accept: FUNCTION, lane: FUNCTION },
  },
  route: { needed: {}, other: { ...OPTIONS, method: ANY, path: ANY, scope: ANY, body: SCHEMA } },
  subscribe: { needed: { event: TEXT }, other: { ...OPTIONS, schema: ANY, missed: FUNCTION } },
  tool: {
    needed: { name: TEXT, description: TEXT, input: SCHEMAS, run: FUNCTION },
    other: { ...OPTIONS, approval: ANY },
  },
};

/** The fault of a spec of this kind, or undefined. */
export const faultOfSpec = (kind: Capability['kind'], spec: Spec): string | undefined =>
  faultOfShape(spec, SHAPES[kind]);

/** The fault of a stored value's schema, or undefined. */
export const faultOfSchema = SCHEMA;

/** The fault of a record of schemas, or undefined. */
export function faultOfSchemas(value: unknown): string | undefined {
  if (!isObject(value)) return 'has to name a schema for each value: { n: t.integer() }';
  if (typeof value['type'] === 'string')
    return 'is one schema, and has to name one for each value: { n: t.integer() } without t.object';
  const wrong = Object.keys(value).find((name) => !isObject(value[name]));
  return wrong === undefined
    ? faultOfUse({ type: 'object', properties: value })
    : `has no schema for ${wrong}: { ${wrong}: t.string() }`;
}

function faultOfUse(schema: Spec): string | undefined {
  const fault = faultOfCompiling(schema);
  return fault === undefined ? undefined : `is no schema that could be used: ${fault}`;
}
