// Checks stored data against the current schema of its capability, which may have been narrowed since.
import { check } from '../../sdk/schema/check.ts';
import type { Fault } from '../../sdk/schema/fault.ts';

export interface StoredData {
  /** Names it: `the data of root/order#task/ship`. */
  readonly what: string;
  /** For data that no code of this project has made. */
  readonly remedy?: string;
}

/** The value in the form of the schema, without unknown keys. Throws `handler_fatal`, which ends the handler without a retry. */
export function fitting(schema: unknown, value: unknown, { what, remedy = EARLIER }: StoredData): unknown {
  const result = check(schema, value, { open: true });
  if (result.ok) return result.value;
  const faults = result.at.map(faultText).join('; ');
  throw Object.assign(new Error(`${what} does not fit its schema: ${faults}; ${remedy}`), {
    code: 'handler_fatal',
    [Symbol.for('svc.error')]: true,
  });
}

/** The schema was narrowed after the data was stored. */
const EARLIER =
  'it was stored by earlier code: give a new key a default or t.optional(…), reload, then svc inbox replay';

function faultText({ path, message }: Fault): string {
  const key = path.slice(1).replaceAll('/', '.');
  if (message === 'missing') return `${key} is missing`;
  return key === '' ? message : `${key}: ${message}`;
}
