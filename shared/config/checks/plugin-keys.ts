// Checks the keys of a plugin's slot or account against the plugin's own schema, once its definition is loaded.
//
//   PLUGIN-KEYS-1  A value that is a single reference is converted to the type in the schema.
//   PLUGIN-KEYS-2  A secret is a single reference without a default. It becomes a masked value, and its text is returned for redaction.
//   PLUGIN-KEYS-3  Faults have the file's line and column. No message holds an environment value or a secret.
//
// The SDK's own check decides whether a value fits. It is passed in, so that plugin tests and the host share one set of rules.
import { originOf, schemaAt, show, unknownKey, valueAt } from '../explain.ts';
import { type ConfigFault, dotted, type Finding, lastOf, parentOf, pointerTo } from '../fault.ts';
import { type LoadedConfig, locate } from '../load.ts';
import { nearValue } from '../near-value.ts';
import { nearest } from '../nearest.ts';
import { readAs, readReferences } from '../references.ts';
import { wrongSecret } from '../resolve.ts';
import { expectation, isRecord, type JsonSchema, schemaOfKey } from '../schema/json-schema.ts';

/** The SDK's `check`: returns the converted value, or each fault with its path. */
export type CheckValue = (
  schema: unknown,
  value: unknown,
) =>
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly at: readonly { readonly path: string; readonly message: string }[] };

export interface PluginKeys {
  /** The definition's properties: a schema for each key. */
  readonly properties: Readonly<Record<string, unknown>>;
  /** The loaded slot (`loaded.config.plugins.irc`) or account. The host's own keys in it are ignored. */
  readonly value: unknown;
  /** False for a plugin, which has no accounts. `endpoints` is then not offered as a key. */
  readonly hasAccounts?: boolean;
  readonly check: CheckValue;
}

export type CheckedKeys =
  | {
      readonly ok: true;
      /** Every key of the schema: defaults filled in, durations in milliseconds, secrets masked. */
      readonly value: Readonly<Record<string, unknown>>;
      /** Texts of the secrets, for redaction. */
      readonly secrets: readonly string[];
      /** Their paths in the configuration. */
      readonly secretKeys: readonly string[];
    }
  | {
      readonly ok: false;
      /** Faults of the configuration. */
      readonly faults: readonly ConfigFault[];
      /** Faults of the definition: defaults that do not match their own schema, with the dotted key. */
      readonly badDefaults: readonly { readonly key: string; readonly message: string }[];
    };

/** The host's own keys of a slot. */
export const SLOT_KEYS = ['use', 'enabled', 'endpoints'] as const;
/** The host's own keys of an account. */
export const ENDPOINT_KEYS = ['id', 'enabled'] as const;

/** `pointer` is the path of the value: `/plugins/irc` or `/plugins/irc/endpoints/0`. */
export function checkPluginKeys(
  loaded: LoadedConfig,
  pointer: string,
  { properties, value, check, hasAccounts = true }: PluginKeys,
): CheckedKeys {
  const schema = { type: 'object', properties, additionalProperties: false } as JsonSchema;
  const hostKeys: readonly string[] = /\/endpoints\/\d+$/.test(pointer) ? ENDPOINT_KEYS : SLOT_KEYS;
  const known = hostKeys.filter((key) => hasAccounts || key !== 'endpoints');
  const own = Object.fromEntries(
    Object.entries(isRecord(value) ? value : {}).filter(([key]) => !hostKeys.includes(key)),
  );
  const reader = new KeyReader(loaded, pointer);
  const typed = reader.read(own, schema, '');
  const checked = check(schema, typed);
  const wrong = (checked.ok ? [] : checked.at)
    .filter(({ path }) => !reader.isFaulty(path))
    .map((fault) => ({ ...fault, filledIn: filledIn(schema, typed, fault.path) }));
  const findings = [
    ...reader.findings,
    ...wrong
      .filter((fault) => fault.filledIn === undefined)
      .map((fault) => worded(fault, { schema, typed, loaded, pointer, known })),
  ];
  if (findings.length > 0 || !checked.ok)
    return {
      ok: false,
      faults: findings.map((finding) => locate({ ...finding, path: pointer + finding.path }, loaded)),
      badDefaults: wrong.flatMap(({ filledIn: path, message }) =>
        path === undefined ? [] : [{ key: dotted(path), message }],
      ),
    };
  const { secrets, secretKeys } = reader;
  return { ok: true, value: checked.value as Readonly<Record<string, unknown>>, secrets, secretKeys };
}

/** Converts environment values to the types in the schema, and enforces the rule for secrets. Paths are relative to the pointer. */
class KeyReader {
  readonly findings: Finding[] = [];
  readonly secrets: string[] = [];
  readonly secretKeys: string[] = [];
  readonly #loaded: LoadedConfig;
  readonly #pointer: string;

  constructor(loaded: LoadedConfig, pointer: string) {
    this.#loaded = loaded;
    this.#pointer = pointer;
  }

  isFaulty(path: string): boolean {
    return this.findings.some((finding) => finding.path === path);
  }

  read(value: unknown, schema: JsonSchema | undefined, path: string): unknown {
    if (schema?.format === 'svc-secret') return this.#secret(value, path);
    if (Array.isArray(value)) return value.map((item, index) => this.read(item, schema?.items, pointerTo(path, index)));
    if (isRecord(value))
      return Object.fromEntries(
        Object.entries(value).map(([key, inner]) => [
          key,
          this.read(inner, schemaOfKey(schema, key), pointerTo(path, key)),
        ]),
      );
    return typeof value === 'string' ? this.#typed(value, schema, path) : value;
  }

  #typed(value: string, schema: JsonSchema | undefined, path: string): unknown {
    const reference = this.#loaded.references.get(this.#pointer + path);
    if (reference === undefined || schema === undefined) return value;
    const missing = this.#loaded.unset.get(this.#pointer + path);
    if (missing !== undefined) return this.#fault({ path, message: `needs the variable ${missing}, which is not set` });
    if (!reference.whole) return value;
    const typed = readAs(schema.type, value);
    return (
      typed ??
      this.#fault({
        path,
        message: `must be ${expectation(schema)}; the value of ${reference.names[0] ?? ''} does not read as one`,
      })
    );
  }

  #secret(value: unknown, path: string): unknown {
    if (typeof value !== 'string') return value;
    const reference = this.#loaded.references.get(this.#pointer + path);
    const read = reference === undefined ? undefined : readReferences(reference.text);
    const [part] = read?.kind === 'template' && read.whole ? read.parts : [];
    if (typeof part !== 'object' || part.fallback !== undefined)
      return this.#fault({ path, message: wrongSecret(reference?.text ?? value, part), secret: true });
    if (value === '') return this.#fault({ path, message: `is empty: ${part.name} has no value`, secret: true });
    this.secrets.push(value);
    this.secretKeys.push(this.#pointer + path);
    return value;
  }

  #fault(finding: Finding): undefined {
    this.findings.push(finding);
    return undefined;
  }
}

/** Path whose default gives the value: the outermost that does, else the innermost. Undefined if the configuration gives it. */
function filledIn(schema: JsonSchema, typed: unknown, path: string): string | undefined {
  let found: string | undefined;
  for (let at = path; at !== '' && valueAt(typed, at) === undefined; at = parentOf(at)) {
    const given = schemaAt(schema, at)?.default;
    if (given === undefined) continue;
    if (found === undefined || valueAt(given, path.slice(at.length)) !== undefined) found = at;
  }
  return found;
}

interface Wording {
  readonly schema: JsonSchema;
  readonly typed: unknown;
  readonly loaded: LoadedConfig;
  readonly pointer: string;
  /** The host's own keys, besides the definition's. */
  readonly known: readonly string[];
}

/** Rewords a fault of the SDK's check: nearest key, expected value, and no environment value. */
function worded(
  { path, message }: { path: string; message: string },
  { schema, typed, loaded, pointer, known }: Wording,
): Finding {
  const group = schemaAt(schema, parentOf(path));
  const wanted = schemaAt(schema, path);
  if (path !== '' && wanted === undefined && group?.properties !== undefined) {
    const { suggestion, ...finding } = unknownKey(path, {
      schema: parentOf(path) === '' ? withKeys(group, known) : group,
    });
    return suggestion === undefined
      ? finding
      : {
          ...finding,
          suggestion: dotted(pointerTo(parentOf(pointer + path), lastOf(`/${suggestion.replaceAll('.', '/')}`))),
        };
  }
  if (valueAt(typed, path) === undefined)
    return { path, message: `is missing; it must be ${expectation(wanted ?? {})}` };
  const reference = loaded.references.get(pointer + path);
  if (reference?.whole === true && valueAt(typed, path) === '')
    return {
      path,
      message: `is empty: ${reference.names[0] ?? ''} has no value; it must be ${expectation(wanted ?? {})}`,
    };
  if (reference === undefined) return asWritten({ path, message }, wanted ?? {}, valueAt(typed, path));
  return { path, message: `must be ${expectation(wanted ?? {})}; ${originOf(reference)} does not fit` };
}

/** A file says true and false, where people in a chat say yes and no. */
function asWritten({ path, message }: Finding, wanted: JsonSchema, value: unknown): Finding {
  const words = (wanted.enum ?? []).map(String);
  const near = typeof value === 'string' && words.length > 0 ? nearest(value, words) : nearValue(value, wanted);
  const told = wanted.type === 'boolean' ? `must be ${expectation(wanted)}, not ${show(value)}` : message;
  return near === undefined ? { path, message: told } : { path, message: told, suggestion: near };
}

/** A schema that also accepts the host's keys, since people write both in one group. */
const withKeys = (group: JsonSchema, known: readonly string[]): JsonSchema => ({
  ...group,
  properties: { ...Object.fromEntries(known.map((key) => [key, {}])), ...group.properties },
});
