// Checks the keys of objects that plugin authors write, for plain JavaScript. Otherwise a misspelt key would do nothing, and a missing one would
// fail much later. Pure.
import { nearest } from './nearest.ts';

type Fields = Readonly<Record<string, unknown>>;

/** The requirement on a value, as text that follows its key; undefined if the value meets it. */
export type Form = (value: unknown) => string | undefined;

export interface Shape {
  readonly needed: Readonly<Record<string, Form>>;
  /** Keys that may be missing or undefined. */
  readonly other: Readonly<Record<string, Form>>;
}

/** The first fault, or undefined. */
export function faultOfShape(given: unknown, { needed, other }: Shape): string | undefined {
  if (!isObject(given)) return 'expected an object';
  const known: Readonly<Record<string, Form>> = { ...needed, ...other };
  const unknown = Object.keys(given).find((key) => !Object.hasOwn(known, key));
  if (unknown !== undefined) return unknownKey(unknown, Object.keys(known));
  for (const [key, fault] of Object.entries(known)) {
    const value = given[key];
    const said = value === undefined ? undefined : fault(value);
    if (said !== undefined) return `${key} ${said}`;
  }
  const missing = Object.keys(needed).find((key) => given[key] === undefined);
  return missing === undefined ? undefined : `${missing} is missing`;
}

function unknownKey(key: string, known: readonly string[]): string {
  const near = nearest(key, known);
  return `there is no key ${key}${near === undefined ? `: known are ${known.join(', ')}` : `; did you mean ${near}?`}`;
}

export const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Makes a form for a requirement that the forms below do not cover. */
export const form =
  (what: string, fits: (value: unknown) => boolean): Form =>
  (value) =>
    fits(value) ? undefined : `has to be ${what}`;

const isText = (value: unknown): boolean => typeof value === 'string';
const isFunction = (value: unknown): boolean => typeof value === 'function';

export const ANY: Form = () => undefined;
export const TEXT = form('a text', isText);
export const TEXTS = form('a list of texts', (value) => Array.isArray(value) && value.every(isText));
export const FLAG = form('true or false', (value) => typeof value === 'boolean');
export const FUNCTION = form('a function', isFunction);
export const OBJECT = form('an object', isObject);
export const ABOVE_0 = form('a number above 0', (value) => typeof value === 'number' && value > 0);
/** An object whose values are all of one kind. `what` describes it: `texts by path`. */
export const everyValue = (what: string, fits: (value: unknown) => boolean): Form =>
  form(what, (value) => isObject(value) && Object.values(value).every(fits));
export const textsBy = (what: string): Form => everyValue(`texts by ${what}`, isText);
export const oneOf = (...known: readonly string[]): Form =>
  form(`one of ${known.join(', ')}`, (value) => known.some((one) => one === value));
/** A nested object with this shape. */
export const nested =
  (shape: Shape): Form =>
  (value) => {
    const fault = faultOfShape(value, shape);
    return fault === undefined ? undefined : `is wrong: ${fault}`;
  };
