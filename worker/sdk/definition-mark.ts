// The mark on the result of `definePlugin` and `defineAdapter`: frozen data with the kind of definition and the SDK version.
//
//   DEFINITION-1  The host reads the mark by its symbol. `instanceof` would fail, because a plugin brings its own copy of this file.
//   DEFINITION-2  The host takes its own major version with an equal or older minor, and the major version before it. A newer version is refused,
//                 and the error names both versions.

/** Major and minor of this SDK. */
export const SDK_VERSION = [1, 0] as const;

const DEFINITION = Symbol.for('svc.definition');

export interface DefinitionMark {
  readonly kind: 'plugin' | 'adapter';
  readonly sdk: readonly [major: number, minor: number];
}

/** A frozen copy of the definition, with the mark. */
export function markDefinition<D extends { readonly name: string }>(kind: DefinitionMark['kind'], definition: D): D {
  const mark: DefinitionMark = { kind, sdk: SDK_VERSION };
  return Object.freeze(Object.defineProperty({ ...definition }, DEFINITION, { value: Object.freeze(mark) }));
}

/** The mark of a module's default export. Throws an error with code `definition_invalid` that names the remedy. */
export function readDefinition(module: unknown): DefinitionMark {
  const mark =
    typeof module === 'object' && module !== null ? (module as Record<symbol, unknown>)[DEFINITION] : undefined;
  if (!isMark(mark)) throw invalid('not a svc definition: export default definePlugin(…) or defineAdapter(…)');
  const [major, minor] = mark.sdk;
  const isTaken = major === SDK_VERSION[0] ? minor <= SDK_VERSION[1] : major === SDK_VERSION[0] - 1;
  if (!isTaken)
    throw invalid(
      `needs SDK ${mark.sdk.join('.')}, this svc has ${SDK_VERSION.join('.')}: update ${isNewer(mark.sdk) ? 'svc' : 'the plugin'}`,
    );
  return mark;
}

/** The error that refuses a definition. */
export const invalid = (message: string): Error => Object.assign(new Error(message), { code: 'definition_invalid' });

const isNewer = ([major, minor]: DefinitionMark['sdk']): boolean =>
  major > SDK_VERSION[0] || (major === SDK_VERSION[0] && minor > SDK_VERSION[1]);

function isMark(value: unknown): value is DefinitionMark {
  if (typeof value !== 'object' || value === null || !('kind' in value) || !('sdk' in value)) return false;
  return (
    typeof value.kind === 'string' &&
    Array.isArray(value.sdk) &&
    value.sdk.length === 2 &&
    value.sdk.every(Number.isInteger)
  );
}
