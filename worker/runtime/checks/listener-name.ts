// The name of a listener in ids. The name never depends on the order of registration: finished handlers of an item are stored by name.
// New code may register another listener before this one.
import { createHash } from 'node:crypto';

interface Matching {
  readonly name?: unknown;
  readonly text?: unknown;
  readonly where?: unknown;
  readonly addressed?: unknown;
  readonly order?: unknown;
}

/** The listener's own name, otherwise a name derived from its match conditions. Equal listeners are numbered. */
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
