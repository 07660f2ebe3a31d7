// Values of code on their way to JSON: what it would keep nothing of (a Map, a Promise that nobody has awaited) is told from data. Pure.
import { isSecret } from '../secret.ts';

/** The value lost on the way. */
export class NotPlain extends Error {
  readonly value: object;

  constructor(value: object) {
    super('not plain data');
    this.value = value;
  }
}

/** As JSON takes it, one level deep: a date is a text. Throws NotPlain. */
export function plainData(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === Object.prototype || prototype === null || isSecret(value)) return value;
  if ('toJSON' in value && typeof value.toJSON === 'function') return value.toJSON();
  if (typeName(value) !== 'Object') throw new NotPlain(value);
  return value;
}

/** What the language calls it; instances of a class of somebody's own are objects. */
export const typeName = (value: object): string => Object.prototype.toString.call(value).slice('[object '.length, -1);

/** The JSON pointer to an object inside of a value. */
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
