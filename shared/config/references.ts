// Parses `${NAME}` and `${NAME:-default}` in a text. `$${` is a literal `${`. Pure.
import type { Environment } from './environment.ts';

export interface Reference {
  readonly name: string;
  /** Used if the variable is unset or empty. */
  readonly fallback?: string;
}

export type ReferenceText =
  | { readonly kind: 'plain'; readonly text: string }
  | { readonly kind: 'template'; readonly parts: readonly (string | Reference)[]; readonly whole: boolean }
  | { readonly kind: 'malformed'; readonly part: string };

const TOKEN = /\$\$\{|\$\{[^}]*\}?/g;
const BODY = /^\$\{([A-Za-z_][A-Za-z0-9_]{0,254})(?::-([^}]*))?\}$/;

/** Splits a text into plain parts and references. */
export function readReferences(text: string): ReferenceText {
  if (!text.includes('${')) return { kind: 'plain', text };
  const parts: (string | Reference)[] = [];
  let end = 0;
  for (const match of text.matchAll(TOKEN)) {
    parts.push(text.slice(end, match.index));
    end = match.index + match[0].length;
    if (match[0] === '$${') {
      parts.push('${');
      continue;
    }
    const body = BODY.exec(match[0]);
    // References do not nest. A nested one would be taken literally, so it is rejected.
    if (body?.[1] === undefined || body[2]?.includes('${') === true) return { kind: 'malformed', part: match[0] };
    parts.push(body[2] === undefined ? { name: body[1] } : { name: body[1], fallback: body[2] });
  }
  const kept = [...parts, text.slice(end)].filter((part) => part !== '');
  if (kept.every((part) => typeof part === 'string')) return { kind: 'plain', text: kept.join('') };
  return { kind: 'template', parts: kept, whole: kept.length === 1 };
}

/** Name of the variable that alone makes up a value. */
export function variableOf(value: unknown): string | undefined {
  const read = typeof value === 'string' ? readReferences(value) : undefined;
  const [part] = read?.kind === 'template' && read.whole ? read.parts : [];
  return typeof part === 'object' ? part.name : undefined;
}

/** The value of a reference. Undefined if it is unset and has no default. */
export const lookUp = (reference: Reference, environment: Environment): string | undefined =>
  takesDefault(reference, environment) ? reference.fallback : ownValue(reference, environment);

/** Whether its variable is unset or empty and the reference has a default. */
export const takesDefault = (reference: Reference, environment: Environment): boolean =>
  reference.fallback !== undefined && (ownValue(reference, environment) ?? '') === '';

const ownValue = ({ name }: Reference, environment: Environment): string | undefined =>
  Object.hasOwn(environment, name) ? environment[name] : undefined;

/** Converts an environment value to the type in the schema. Undefined if it does not parse. */
export function readAs(type: unknown, text: string): unknown {
  const types: readonly unknown[] = Array.isArray(type) ? type : [type];
  if (types.includes('boolean') && /^(true|false)$/.test(text)) return text === 'true';
  if (types.includes('integer') && /^-?\d{1,15}$/.test(text)) return Number(text);
  if (types.includes('number') && /^-?\d{1,15}(\.\d{1,15})?$/.test(text)) return Number(text);
  return types.includes('string') || types.includes(undefined) ? text : undefined;
}
