// Parses JSON from outside, without keys that could reach a prototype. Pure.
//
//   SAFE-JSON-1  The value has no `__proto__` at any level, and no `constructor` that holds a `prototype`.
//   SAFE-JSON-2  JSON with 64 levels or more is refused, because a stored value must be cheap to walk again.

const MAX_DEPTH = 64;

/** The value, or undefined if the text is not JSON or nests too deep. */
export function safeJson(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return isPlain(text) ? value : clean(value, 0);
  } catch {
    return undefined;
  }
}

/** Scanning the text is cheaper than walking the value. Most texts have neither a suspect key nor enough brackets to nest too deep. */
const isPlain = (text: string): boolean =>
  !SUSPECT.some((part) => text.includes(part)) && opens(text, '{') + opens(text, '[') < MAX_DEPTH;

const SUSPECT = ['__proto__', 'constructor', '\\u'];

/** Counts the character, up to MAX_DEPTH. */
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
