// JSON from outside, without anything that could reach a prototype. Pure.
//
//   J1  No `__proto__`, at any level; no `constructor` that holds a `prototype`.
//   J2  Deeper than 64 levels is not JSON to us: what is stored must be cheap to walk again.

const MAX_DEPTH = 64;

/** The value, or undefined when the text is not JSON or nests too deep. */
export function safeJson(text: string): unknown {
  try {
    return clean(JSON.parse(text), 0);
  } catch {
    return undefined;
  }
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
