// The mark of an optional property. It is TypeBox's mark, and not enumerable, so printed schemas do not show it.

const OPTIONAL = '~optional';

/** A copy of the schema, with the mark. */
export function markOptional<S extends object>(schema: S): S {
  return Object.defineProperty({ ...schema }, OPTIONAL, { value: true });
}

/** True if an object may lack this property: it is optional, or a default fills it in. */
export function isOptional(schema: object): boolean {
  return OPTIONAL in schema || 'default' in schema;
}
