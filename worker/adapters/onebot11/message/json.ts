// Reads ids and numbers of OneBot, which implementations write as numbers or as strings. Pure.
import type { Json } from '../../../sdk/platform/foreign-json.ts';

/** The id under this key as a string. Implementations write numbers or strings. */
export function idAt(value: Json, key: string): string | undefined {
  const found = value[key];
  if (typeof found === 'number') return Number.isSafeInteger(found) ? String(found) : undefined;
  return typeof found === 'string' && /^[\w:.+/=@-]{1,128}$/.test(found) ? found : undefined;
}

/** The number under this key, at least 0. Some implementations write a string. */
export function numberAt(value: Json, key: string): number | undefined {
  const found = value[key];
  const number = typeof found === 'string' && /^\d{1,15}$/.test(found) ? Number(found) : found;
  return typeof number === 'number' && Number.isFinite(number) && number >= 0 ? number : undefined;
}

/** An outgoing id: a number if the text is one. */
export const idOut = (id: string): number | string => (/^-?\d{1,15}$/.test(id) ? Number(id) : id);
