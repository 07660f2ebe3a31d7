// The effective configuration as it may be shown: every value with its source, secrets as the reference that the file holds.
//
//   V1  A secret, and whatever a plugin gets from the environment, is shown as it is written: `${NAME}`.
//   V2  A text of a plugin under a key that looks like a secret is masked, though a correct file has none.
//   V3  A text that holds a secret is shown as it is written, or masked where it was written in clear. So is one whose variable a plugin
//       gets, too: it may be a secret there.
//   V4  What is shown, written to a file, is a configuration with the same effective values.
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
  /** Variables that the value is made of. */
  readonly variables: readonly string[];
  /** Those of them whose own value counts, not the default beside them. */
  readonly taken: readonly string[];
}

/** The configuration as plain data without secrets: those that it knows, or all that the caller does. */
export function maskedConfig(
  loaded: LoadedConfig,
  secrets: Iterable<string> = loaded.secrets,
): Readonly<Record<string, unknown>> {
  const view = { loaded, secrets: [...secrets], ofPlugins: variablesOfPlugins(loaded.references) };
  return masked(view, loaded.config, '') as Readonly<Record<string, unknown>>;
}

/** Its single values in order, each with its source. Empty groups and lists are values too. */
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
