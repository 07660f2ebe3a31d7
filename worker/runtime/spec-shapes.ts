// The keys of each registration and what each of them holds, for plain JavaScript: a misspelt key would do nothing, and a missing
// one fail when somebody types the command.
import { nearest } from '../../shared/config/nearest.ts';
import type { Capability } from '../handling/capabilities.ts';
import { faultOfDefaults } from '../sdk/default-fault.ts';
import { faultOfCompiling } from '../sdk/schema-fault.ts';

type Spec = Readonly<Record<string, unknown>>;
type Form = 'text' | 'texts' | 'flag' | 'function' | 'schema' | 'schemas' | 'any';
interface Shape {
  readonly needed: Readonly<Record<string, Form>>;
  readonly other: Readonly<Record<string, Form>>;
}

const OPTIONS = { timeoutMs: 'any', attempts: 'any', formerly: 'texts' } as const;
const SHAPES: Readonly<Record<Capability['kind'], Shape>> = {
  command: {
    needed: { summary: 'text' },
    other: { ...OPTIONS, aliases: 'texts', who: 'any', examples: 'texts', args: 'schemas', phrases: 'texts' },
  },
  on: {
    needed: {},
    other: { ...OPTIONS, on: 'any', name: 'text', text: 'any', where: 'any', addressed: 'flag', order: 'any' },
  },
  action: { needed: { data: 'schemas' }, other: OPTIONS },
  dialog: { needed: { answers: 'schemas' }, other: { ...OPTIONS, expiresMs: 'any', steps: 'any' } },
  task: { needed: { data: 'schemas' }, other: { ...OPTIONS, lane: 'function' } },
  cron: { needed: { at: 'text' }, other: { ...OPTIONS, timezone: 'text', missed: 'any' } },
  webhook: {
    needed: { verify: 'function', delivery: 'function', body: 'schema' },
    other: { ...OPTIONS, accept: 'function', lane: 'function' },
  },
  route: { needed: {}, other: { ...OPTIONS, method: 'any', path: 'any', scope: 'any', body: 'schema' } },
  subscribe: { needed: { event: 'text' }, other: { ...OPTIONS, schema: 'any', missed: 'function' } },
  tool: {
    needed: { name: 'text', description: 'text', input: 'schemas', run: 'function' },
    other: { ...OPTIONS, approval: 'any' },
  },
};

/** What is wrong with a spec of this kind. */
export function faultOfShape(kind: Capability['kind'], spec: Spec): string | undefined {
  const { needed, other } = SHAPES[kind];
  const known: Readonly<Record<string, Form>> = { ...needed, ...other };
  for (const [key, value] of Object.entries(spec)) {
    const form = Object.hasOwn(known, key) ? known[key] : undefined;
    if (form === undefined) return unknownKey(key, Object.keys(known));
    const fault = value === undefined ? undefined : faultOfForm(form, value);
    if (fault !== undefined) return `${key} ${fault}`;
  }
  const missing = Object.keys(needed).find((key) => spec[key] === undefined);
  return missing === undefined ? undefined : `${missing} is missing`;
}

/** What is wrong with the schema of a stored value. */
export const faultOfSchema = (value: unknown): string | undefined => faultOfForm('schema', value);

function unknownKey(key: string, known: readonly string[]): string {
  const near = nearest(key, known);
  return `there is no key ${key}${near === undefined ? `: known are ${known.join(', ')}` : `; did you mean ${near}?`}`;
}

function faultOfForm(form: Form, value: unknown): string | undefined {
  switch (form) {
    case 'any':
      return undefined;
    case 'text':
      return typeof value === 'string' ? undefined : 'has to be a text';
    case 'texts':
      return Array.isArray(value) && value.every((one) => typeof one === 'string')
        ? undefined
        : 'has to be a list of texts';
    case 'flag':
      return typeof value === 'boolean' ? undefined : 'has to be true or false';
    case 'function':
      return typeof value === 'function' ? undefined : 'has to be a function';
    case 'schema':
      if (!isObject(value)) return 'has to be a schema, such as t.object({ … })';
      return faultOfUse(value) ?? faultOfDefaults(value);
    case 'schemas':
      return faultOfSchemas(value) ?? faultOfDefaults({ properties: value });
  }
}

/** What is wrong with schemas by name. */
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

const isObject = (value: unknown): value is Spec =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
