// Reading foreign JSON: nothing is believed to be there. Pure.

export type Json = Readonly<Record<string, unknown>>;

export const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The object under this key, else one without keys. */
export function objectAt(value: Json, key: string): Json {
  const found = value[key];
  return isObject(found) ? found : {};
}

/** The objects in the list under this key. */
export function listAt(value: Json, key: string): readonly Json[] {
  const found = value[key];
  return Array.isArray(found) ? found.filter(isObject) : [];
}

/** The text under this key, when it is one and not empty. */
export function textAt(value: Json, key: string): string | undefined {
  const found = value[key];
  return typeof found === 'string' && found !== '' ? found : undefined;
}

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
