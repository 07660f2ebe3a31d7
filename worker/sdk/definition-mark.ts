// The mark of what `definePlugin` and `defineAdapter` return: plain frozen data that says what it is and for which SDK it was made.
//
//   D1  A mark is read by its symbol, never by `instanceof`: a plugin brings its own copy of this file.
//   D2  The same major and an older or equal minor is taken, and for one release the major before; a newer one is refused by name.

/** Major and minor of this SDK. */
export const SDK_VERSION = [1, 0] as const;

const DEFINITION = Symbol.for('svc.definition');

export interface DefinitionMark {
  readonly kind: 'plugin' | 'adapter';
  readonly sdk: readonly [major: number, minor: number];
}

/** A frozen copy of the definition that carries the mark. */
export function markDefinition<D extends { readonly name: string }>(kind: DefinitionMark['kind'], definition: D): D {
  const mark: DefinitionMark = { kind, sdk: SDK_VERSION };
  return Object.freeze(Object.defineProperty({ ...definition }, DEFINITION, { value: Object.freeze(mark) }));
}

/** The mark of a module's default export. Throws an error with code `definition_invalid` that says what to do. */
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
