// What is stored against the schema of the capability that reads it: a newer one may have narrowed it since.
import { check } from '../../sdk/schema/check.ts';

/** The value as the schema wants it, keys that it does not name dropped. Throws what ends the handler for good. */
export function fitting(schema: unknown, value: unknown): unknown {
  const result = check(schema, value, { open: true });
  if (!result.ok)
    throw Object.assign(new Error(`stored data does not fit: ${result.faults.join('; ')}`), {
      code: 'handler_fatal',
      [Symbol.for('svc.error')]: true,
    });
  return result.value;
}
