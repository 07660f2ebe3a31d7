// Marks of a property: it is optional, or an option of a command. Marks are not enumerable, so printed schemas do not show them. The first is
// TypeBox's own.

const OPTIONAL = '~optional';
const NAMED_ONLY = '~named';

/** A copy of the schema, with the mark. */
export function markOptional<S extends object>(schema: S): S {
  const marked = Object.defineProperty({ ...schema }, OPTIONAL, { value: true });
  return isNamedOnly(schema) ? Object.defineProperty(marked, NAMED_ONLY, { value: true }) : marked;
}

/** A copy of the schema that is optional and has no position in a command line. */
export function markOption<S extends object>(schema: S): S {
  return Object.defineProperty(markOptional(schema), NAMED_ONLY, { value: true });
}

/** True for an option of a command: it is typed by name only. */
export const isNamedOnly = (schema: object): boolean => NAMED_ONLY in schema;

/** True if an object may lack this property: it is optional, or a default fills it in. */
export function isOptional(schema: object): boolean {
  return OPTIONAL in schema || 'default' in schema;
}
