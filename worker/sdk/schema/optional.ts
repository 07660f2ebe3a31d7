// The mark of a property that an object may lack: the same as TypeBox's, and not enumerable, so that it is in no printed schema.

const OPTIONAL = '~optional';

/** A copy of the schema that carries the mark. */
export function markOptional<S extends object>(schema: S): S {
  return Object.defineProperty({ ...schema }, OPTIONAL, { value: true });
}

/** True when an object may lack this property: it is optional, or a default fills it in. */
export function isOptional(schema: object): boolean {
  return OPTIONAL in schema || 'default' in schema;
}
