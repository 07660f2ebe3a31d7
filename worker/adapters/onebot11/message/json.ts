// Ids and numbers of OneBot, which implementations write as numbers or as texts. Pure.
import type { Json } from '../../../sdk/platform/foreign-json.ts';

/** An id under this key, as text: implementations write ids as numbers or as texts. */
export function idAt(value: Json, key: string): string | undefined {
  const found = value[key];
  if (typeof found === 'number') return Number.isSafeInteger(found) ? String(found) : undefined;
  return typeof found === 'string' && /^[\w:.+/=@-]{1,128}$/.test(found) ? found : undefined;
}

/** The number under this key, at least 0; some implementations write it as a text. */
export function numberAt(value: Json, key: string): number | undefined {
  const found = value[key];
  const number = typeof found === 'string' && /^\d{1,15}$/.test(found) ? Number(found) : found;
  return typeof number === 'number' && Number.isFinite(number) && number >= 0 ? number : undefined;
}

/** An id as the platform wants it: a number where it is one. */
export const idOut = (id: string): number | string => (/^-?\d{1,15}$/.test(id) ? Number(id) : id);
