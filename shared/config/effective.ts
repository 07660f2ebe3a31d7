// The effective configuration for display: every value with its source, secrets as the reference in the file.
//
//   EFFECTIVE-1  A secret, and any value that a plugin gets from the environment, is shown as written: `${NAME}`.
//   EFFECTIVE-2  A plugin's text under a key that looks secret is masked, although a correct file has none.
//   EFFECTIVE-3  A text that contains a secret is shown as its reference, or masked if it was written in clear.
//                The same holds for a text whose variable a plugin also uses, because it may be a secret there.
//   EFFECTIVE-4  The output, written to a file, is a configuration with the same effective values.
import { withoutSecrets } from '../log/redaction.ts';
import { SECRET_MASK, Secret } from '../secret.ts';
import { lastOf, pointerTo } from './fault.ts';
import type { LoadedConfig, ValueSource } from './load.ts';
import { looksSecret, type ResolvedReference } from './resolve.ts';
import { isRecord } from './schema/json-schema.ts';

export interface EffectiveValue {
  readonly path: string;
  readonly value: string | number | boolean | readonly never[] | Readonly<Record<string, never>>;
  readonly source: ValueSource;
  /** Variables used in the value. */
  readonly variables: readonly string[];
  /** The variables whose own value is used instead of their default. */
  readonly taken: readonly string[];
}

/** The configuration as plain data with secrets masked. `secrets` defaults to those of the configuration. */
export function maskedConfig(
  loaded: LoadedConfig,
  secrets: Iterable<string> = loaded.secrets,
): Readonly<Record<string, unknown>> {
  const view = { loaded, secrets: [...secrets], ofPlugins: variablesOfPlugins(loaded.references) };
  return masked(view, loaded.config, '') as Readonly<Record<string, unknown>>;
}

/** All single values in order, each with its source. Empty groups and lists count as values. */
export function effectiveValues(
  loaded: LoadedConfig,
  secrets: Iterable<string> = loaded.secrets,
): readonly EffectiveValue[] {
  const leaves = (value: unknown, path: string): EffectiveValue[] => {
    const inner = isRecord(value)
      ? Object.entries(value)
      : Array.isArray(value)
        ? value.map((item, index) => [index, item] as const)
        : [];
    if (inner.length > 0) return inner.flatMap(([key, deeper]) => leaves(deeper, pointerTo(path, key)));
    return [
      {
        path,
        value: value as EffectiveValue['value'],
        source: loaded.source(path),
        variables: loaded.references.get(path)?.names ?? [],
        taken: loaded.references.get(path)?.taken ?? [],
      },
    ];
  };
  return leaves(maskedConfig(loaded, secrets), '');
}

interface View {
  readonly loaded: LoadedConfig;
  readonly secrets: readonly string[];
  readonly ofPlugins: ReadonlySet<string>;
}

function masked(view: View, value: unknown, path: string): unknown {
  const reference = view.loaded.references.get(path);
  if (value instanceof Secret) return reference?.text ?? SECRET_MASK;
  if (reference !== undefined && path.startsWith('/plugins/')) return reference.text;
  if (typeof value === 'string') return maskedText(view, value, path);
  if (Array.isArray(value)) return value.map((item, index) => masked(view, item, pointerTo(path, index)));
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key, masked(view, inner, pointerTo(path, key))]),
  );
}

function maskedText({ loaded, secrets, ofPlugins }: View, value: string, path: string): string {
  if (path.startsWith('/plugins/') && looksSecret(lastOf(path))) return SECRET_MASK;
  const reference = loaded.references.get(path);
  const shown = withoutSecrets(value, secrets);
  if (reference !== undefined && (shown !== value || reference.names.some((name) => ofPlugins.has(name))))
    return reference.text;
  return shown.replaceAll('${', () => '$${');
}

const variablesOfPlugins = (references: ReadonlyMap<string, ResolvedReference>): ReadonlySet<string> =>
  new Set([...references].flatMap(([path, { names }]) => (path.startsWith('/plugins/') ? names : [])));
