// The value that was meant by one of the wrong type: `no` for false, "5" for 5, 1GB for 1000000000.
import type { JsonSchema } from './schema/json-schema.ts';

const TRUE = /^(true|yes|y|on|1)$/i;
const FALSE = /^(false|no|n|off|0)$/i;
const NUMBER = /^-?\d{1,15}(\.\d{1,15})?$/;
const SIZE = /^(\d{1,6}(?:\.\d{1,3})?)\s?([kmgt])(i?)b?$/i;

/** Undefined if the schema's type has no such value. */
export function nearValue(value: unknown, { type, minimum, maximum }: JsonSchema): string | undefined {
  const text = typeof value === 'string' || typeof value === 'number' ? String(value).trim() : '';
  if (type === 'boolean') return TRUE.test(text) ? 'true' : FALSE.test(text) ? 'false' : undefined;
  if ((type !== 'integer' && type !== 'number') || typeof value !== 'string') return undefined;
  const number = NUMBER.test(text) ? Number(text) : bytesOf(text);
  const fits =
    (type === 'number' || Number.isInteger(number)) && number >= (minimum ?? number) && number <= (maximum ?? number);
  return fits ? String(number) : undefined;
}

/** NaN for what is no size. */
function bytesOf(text: string): number {
  const [, count, unit = '', binary] = SIZE.exec(text) ?? [];
  if (count === undefined) return Number.NaN;
  return Math.round(Number(count) * (binary === '' ? 1_000 : 1_024) ** ('kmgt'.indexOf(unit.toLowerCase()) + 1));
}
