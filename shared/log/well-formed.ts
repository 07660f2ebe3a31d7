// Texts without half characters. Cutting an emoji at the wrong place leaves one half (a lone surrogate): UTF-8 has no form for it, and platforms
// refuse a body that holds its escape. Pure.
//
//   WELL-FORMED-1  Each lone half becomes U+FFFD, in texts and in keys of plain data at any depth. Other characters stay.
//   WELL-FORMED-2  Data without such a half is returned as it is, not copied.

/** The value with U+FFFD in the place of half characters. */
export function wellFormed<T>(value: T): T {
  return replaced(value) as T;
}

function replaced(value: unknown): unknown {
  if (typeof value === 'string') return value.toWellFormed();
  if (Array.isArray(value)) return replacedList(value);
  return isPlain(value) ? replacedObject(value) : value;
}

function replacedList(list: readonly unknown[]): readonly unknown[] {
  const items = list.map(replaced);
  return items.some((item, at) => item !== list[at]) ? items : list;
}

function replacedObject(object: object): object {
  let isSame = true;
  const entries = Object.entries(object).map(([key, value]): [string, unknown] => {
    const entry: [string, unknown] = [key.toWellFormed(), replaced(value)];
    isSame &&= entry[0] === key && entry[1] === value;
    return entry;
  });
  return isSame ? object : Object.fromEntries(entries);
}

/** Other objects (a date, a secret, bytes) are left alone. */
function isPlain(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
