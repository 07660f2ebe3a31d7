// What a listener is called in ids. Never its place: other code may have one more of them in front, and what an item's handlers have
// done is kept by name.
import { createHash } from 'node:crypto';

interface Matching {
  readonly name?: unknown;
  readonly text?: unknown;
  readonly where?: unknown;
  readonly addressed?: unknown;
  readonly order?: unknown;
}

/** Its own name; else what it matches, counted among those that match the same. */
export function listenerName(kind: string, match: Matching, isTaken: (name: string) => boolean): string {
  if (match.name !== undefined) return String(match.name);
  const { text, where, addressed, order } = match;
  const matched = JSON.stringify([text instanceof RegExp ? String(text) : [text], where, addressed, order]);
  const isAll = [text, where, addressed, order].every((one) => one === undefined);
  const name = isAll ? kind : `${kind}-${createHash('sha256').update(matched).digest('hex').slice(0, 8)}`;
  let found = name;
  for (let n = 2; isTaken(found); n += 1) found = `${name}~${n}`;
  return found;
}
