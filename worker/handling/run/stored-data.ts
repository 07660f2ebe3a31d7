// Checks stored data against the current schema of its capability, which may have been narrowed since.
import { check } from '../../sdk/schema/check.ts';

/** The value in the form of the schema, without unknown keys. Throws `handler_fatal`, which ends the handler without a retry. */
export function fitting(schema: unknown, value: unknown): unknown {
  const result = check(schema, value, { open: true });
  if (!result.ok)
    throw Object.assign(new Error(`stored data does not fit: ${result.faults.join('; ')}`), {
      code: 'handler_fatal',
      [Symbol.for('svc.error')]: true,
    });
  return result.value;
}
