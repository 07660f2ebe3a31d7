// Resolves the references in the file's tree and drops nulls. The source of each value is recorded.
//
//   RESOLVE-1  A value that is a single reference is converted to the type in the schema. Other values stay texts.
//   RESOLVE-2  A secret is a single reference without a default. An unset one is a fault.
//              In test mode it is a warning and gets a random value: a host's secret if nothing is served, a plugin's always.
//   RESOLVE-3  No message holds a value of the environment.
//   RESOLVE-4  All resolved texts together stay under 4 MiB.
import { randomBytes } from 'node:crypto';
import type { ProjectEnvironment } from './environment.ts';
import { type Finding, pointerTo, printable } from './fault.ts';
import type { Mode } from './mode.ts';
import { lookUp, type Reference, readAs, readReferences, takesDefault } from './references.ts';
import { expectation, isRecord, type JsonSchema, schemaOfKey } from './schema/json-schema.ts';

export interface ResolvedReference {
  /** As written in the file: `${HTTP_TOKEN}`. */
  readonly text: string;
  /** The value is this single reference. */
  readonly whole: boolean;
  readonly names: readonly string[];
  /** Variables whose own value is used instead of their default. */
  readonly taken: readonly string[];
}

export interface Resolved {
  readonly value: unknown;
  readonly findings: readonly Finding[];
  readonly warnings: readonly string[];
  readonly references: ReadonlyMap<string, ResolvedReference>;
  /** Paths of the host's own secrets that are set. */
  readonly secretKeys: ReadonlySet<string>;
  /** Plugin paths whose variable is unset: a warning if the plugin marks the key as secret, else a fault. Test mode only. */
  readonly unset: ReadonlyMap<string, string>;
  /** Texts to mask: values of secrets, and of variables that look like one. */
  readonly secrets: ReadonlySet<string>;
}

const SECRET_NAME = /token|secret|pass(word|wd|phrase)?$|^pass|api_?key|private_?key|signing|credential/i;
const MOST_RESOLVED_CHARACTERS = 4_194_304;

/** Whether the name of a key or variable looks like a secret's. */
export const looksSecret = (name: string): boolean => SECRET_NAME.test(name);

/** Why a value is no reference to a secret. The value may be the secret, so the message shows none of it. */
export function wrongSecret(value: unknown, part: string | Reference | undefined): string {
  if (typeof part === 'object') return 'must be a reference without a default';
  const isForm = typeof value === 'string' && /^\$(\{|\w+$)/.test(value);
  return isForm
    ? 'must be a reference like ${NAME}: other forms with $ are not taken'
    : 'must be a reference like ${NAME}, not the secret itself';
}

/** An unguessable text for a secret that is not set. */
export const placeholderSecret = (): string => randomBytes(32).toString('base64url');

export interface ResolveContext {
  readonly environment: ProjectEnvironment;
  readonly mode: Mode;
  /** An unset secret of the host is a warning. */
  readonly lenient: boolean;
}

export function resolveTree(value: unknown, schema: JsonSchema, context: ResolveContext): Resolved {
  const resolver = new Resolver(context);
  return { value: resolver.resolve(value, schema, '') ?? {}, ...resolver.result() };
}

class Resolver {
  readonly #environment: ProjectEnvironment;
  readonly #mode: Mode;
  readonly #lenient: boolean;
  readonly #findings: Finding[] = [];
  readonly #warnings: string[] = [];
  readonly #references = new Map<string, ResolvedReference>();
  readonly #secretKeys = new Set<string>();
  readonly #unset = new Map<string, string>();
  readonly #secrets = new Set<string>();
  #characters = 0;

  constructor({ environment, mode, lenient }: ResolveContext) {
    this.#environment = environment;
    this.#mode = mode;
    this.#lenient = lenient;
  }

  result(): Omit<Resolved, 'value'> {
    return {
      findings: this.#findings,
      warnings: this.#warnings,
      references: this.#references,
      secretKeys: this.#secretKeys,
      unset: this.#unset,
      secrets: this.#secrets,
    };
  }

  /** Undefined for an empty value (`key:`). */
  resolve(value: unknown, schema: JsonSchema | undefined, path: string): unknown {
    if (value === null) return undefined;
    if (schema?.format === 'svc-secret') return this.#secret(value, path);
    if (typeof value === 'string') return this.#text(value, schema, path);
    if (Array.isArray(value))
      return value.map((item, index) => this.resolve(item, schema?.items, pointerTo(path, index)) ?? null);
    if (!isRecord(value)) return value;
    const entries = Object.entries(value).map(([key, inner]): [string, unknown] => {
      const found = this.resolve(inner, schemaOfKey(schema, key), pointerTo(path, key));
      return [key, found === undefined && path === '/plugins' ? {} : found];
    });
    return Object.fromEntries(entries.filter(([, inner]) => inner !== undefined));
  }

  #secret(value: unknown, path: string): unknown {
    const read = typeof value === 'string' ? readReferences(value) : undefined;
    const [part] = read?.kind === 'template' && read.whole ? read.parts : [];
    if (typeof value !== 'string' || typeof part !== 'object' || part.fallback !== undefined) {
      this.#findings.push({ path, message: wrongSecret(value, part), secret: true });
      return undefined;
    }
    this.#references.set(path, { text: value, whole: true, names: [part.name], taken: [part.name] });
    this.#secretKeys.add(path);
    const text = lookUp(part, this.#environment.values);
    if (text !== undefined) return this.#hide(text);
    if (this.#lenient) {
      this.#warnings.push(`${part.name} is not set, so this secret is missing: ${path.slice(1).replaceAll('/', '.')}`);
      return placeholderSecret();
    }
    this.#findings.push({ path, message: `needs the variable ${part.name}, which is not set`, secret: true });
    return undefined;
  }

  #text(value: string, schema: JsonSchema | undefined, path: string): unknown {
    const read = readReferences(value);
    if (read.kind === 'plain') return read.text;
    if (read.kind === 'malformed') {
      this.#findings.push({
        path,
        message: `holds a malformed reference ${printable(read.part)}; write \${NAME}, \${NAME:-default}, or $\${ for the characters themselves`,
      });
      return undefined;
    }
    const references = read.parts.filter((part) => typeof part === 'object');
    const taken = references.filter((reference) => !takesDefault(reference, this.#environment.values));
    const namesOf = (of: readonly Reference[]): readonly string[] => of.map(({ name }) => name);
    this.#references.set(path, { text: value, whole: read.whole, names: namesOf(references), taken: namesOf(taken) });
    const missing = references.find((reference) => lookUp(reference, this.#environment.values) === undefined);
    if (missing !== undefined) return this.#missing(missing, schema, path);
    const text = this.#join(read.parts, path);
    if (!read.whole || schema === undefined) return text;
    const typed = readAs(schema.type, text);
    if (typed === undefined) {
      const [{ name } = { name: '' }] = references;
      const source = taken.length > 0 ? 'value' : 'default';
      this.#findings.push({
        path,
        message: `must be ${expectation(schema)}; the ${source} of ${name} does not read as one`,
      });
    }
    return typed;
  }

  #missing({ name }: Reference, schema: JsonSchema | undefined, path: string): unknown {
    if (this.#mode === 'test' && schema === undefined && path.startsWith('/plugins/')) {
      this.#unset.set(path, name);
      return placeholderSecret();
    }
    this.#findings.push({ path, message: `needs the variable ${name}, which is not set`, secret: looksSecret(name) });
    return undefined;
  }

  #join(parts: readonly (string | Reference)[], path: string): string {
    const texts: string[] = [];
    for (const part of parts) {
      const text = typeof part === 'string' ? part : (lookUp(part, this.#environment.values) ?? '');
      this.#characters += text.length;
      if (this.#characters > MOST_RESOLVED_CHARACTERS) {
        this.#findings.push({
          path,
          message: `is too large: all resolved texts together may hold ${MOST_RESOLVED_CHARACTERS} characters`,
        });
        return '';
      }
      if (typeof part === 'object' && (looksSecret(part.name) || looksSecret(path.slice(path.lastIndexOf('/') + 1))))
        this.#hide(text);
      texts.push(text);
    }
    return texts.join('');
  }

  #hide(text: string): string {
    if (text !== '') this.#secrets.add(text);
    return text;
  }
}
