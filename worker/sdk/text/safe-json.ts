// JSON from outside, without anything that could reach a prototype. Pure.
//
//   J1  No `__proto__`, at any level; no `constructor` that holds a `prototype`.
//   J2  Deeper than 64 levels is not JSON to us: what is stored must be cheap to walk again.

const MAX_DEPTH = 64;

/** The value, or undefined when the text is not JSON or nests too deep. */
export function safeJson(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return isPlain(text) ? value : clean(value, 0);
  } catch {
    return undefined;
  }
}

/** Most texts cannot hold what J1 and J2 refuse, and the text tells so for less than a walk over the value. */
const isPlain = (text: string): boolean =>
  !SUSPECT.some((part) => text.includes(part)) && opens(text, '{') + opens(text, '[') < MAX_DEPTH;

const SUSPECT = ['__proto__', 'constructor', '\\u'];

/** How often the character occurs, as far as it matters. */
function opens(text: string, bracket: string): number {
  let count = 0;
  for (let at = text.indexOf(bracket); at !== -1 && count < MAX_DEPTH; at = text.indexOf(bracket, at + 1)) count += 1;
  return count;
}

function clean(value: unknown, depth: number): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= MAX_DEPTH) throw new RangeError('nested too deep');
  if (Array.isArray(value)) return value.map((item) => clean(item, depth + 1));
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, item]) => (isHarmful(key, item) ? [] : [[key, clean(item, depth + 1)]])),
  );
}

const isHarmful = (key: string, item: unknown): boolean =>
  key === '__proto__' ||
  (key === 'constructor' && typeof item === 'object' && item !== null && Object.hasOwn(item, 'prototype'));
