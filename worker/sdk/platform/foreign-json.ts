// Reads members of foreign JSON without assuming that they exist. Pure.

export type Json = Readonly<Record<string, unknown>>;

export const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The value itself, else an object without keys. */
export const asObject = (value: unknown): Json => (isObject(value) ? value : {});

/** The object under this key, else one without keys. */
export const objectAt = (value: Json, key: string): Json => asObject(value[key]);

/** The objects in the list under this key. */
export function listAt(value: Json, key: string): readonly Json[] {
  const found = value[key];
  return Array.isArray(found) ? found.filter(isObject) : [];
}

/** The texts in the list under this key. */
export function textsAt(value: Json, key: string): readonly string[] {
  const found = value[key];
  return Array.isArray(found) ? found.filter((one) => typeof one === 'string') : [];
}

/** The text under this key; undefined if it is empty or not a text. */
export function textAt(value: Json, key: string): string | undefined {
  const found = value[key];
  return typeof found === 'string' && found !== '' ? found : undefined;
}

/** The whole number under this key; undefined if it is negative or not a whole number. */
export function countAt(value: Json, key: string): number | undefined {
  const found = value[key];
  return typeof found === 'number' && Number.isSafeInteger(found) && found >= 0 ? found : undefined;
}
