// Tells plain data from values that JSON would lose, such as a Map or a Promise that was not awaited. Pure.
import { isSecret } from '../secret.ts';

/** Thrown for a value that JSON cannot hold. */
export class NotPlain extends Error {
  readonly value: object;

  constructor(value: object) {
    super('not plain data');
    this.value = value;
  }
}

/** The value as JSON encodes it, one level deep: a date becomes a text. Throws NotPlain. */
export function plainData(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === Object.prototype || prototype === null || isSecret(value)) return value;
  if ('toJSON' in value && typeof value.toJSON === 'function') return value.toJSON();
  if (typeName(value) !== 'Object') throw new NotPlain(value);
  return value;
}

/** The built-in type name of an object. Instances of a user's class are 'Object'. */
export const typeName = (value: object): string => Object.prototype.toString.call(value).slice('[object '.length, -1);

/** The JSON pointer of an object inside a value. */
export function pathTo(target: object, value: unknown, seen: Set<unknown> = new Set()): string | undefined {
  if (value === target) return '';
  if (typeof value !== 'object' || value === null || seen.has(value)) return undefined;
  seen.add(value);
  for (const [key, one] of Object.entries(value)) {
    const rest = pathTo(target, one, seen);
    if (rest !== undefined) return `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}${rest}`;
  }
  return undefined;
}
