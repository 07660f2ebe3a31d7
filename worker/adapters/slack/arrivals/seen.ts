// Conversations and threads with recent messages, the newest last. After an absence the account looks there first for missed messages.
// The list is kept in memory and stored with the account's cursor over a restart.

import type { Arrival } from '../../../sdk/index.ts';
import { isObject, textAt } from '../../../sdk/platform/foreign-json.ts';
import { safeJson } from '../../../sdk/text/safe-json.ts';
import { readMessageId } from '../place.ts';

const MOST = 200;
const PLACE = /^[CDG][A-Z0-9]{1,30}(?::\d{1,12}\.\d{1,9})?$/;

export class Seen {
  readonly #places = new Set<string>();
  #isMissing = false;

  /** Adds the message's channel and, for a thread, `<channel>:<root>`. */
  note(arrival: Arrival): void {
    if (arrival.kind !== 'message') return;
    const { channel } = readMessageId(arrival.message, arrival.conversation.id);
    const { thread } = arrival.conversation;
    this.add(channel);
    if (thread !== undefined) this.add(`${channel}:${thread}`);
  }

  add(place: string): void {
    if (!PLACE.test(place)) return;
    this.#places.delete(place);
    this.#places.add(place);
    const [oldest] = this.#places.size > MOST ? this.#places : [];
    if (oldest !== undefined) this.#places.delete(oldest);
  }

  /** Slack has dropped events over its limit. */
  missedSomething(): void {
    this.#isMissing = true;
  }

  /** True once after dropped events. */
  takeMissed(): boolean {
    const isMissing = this.#isMissing;
    this.#isMissing = false;
    return isMissing;
  }

  newestFirst(): readonly string[] {
    return [...this.#places].reverse();
  }
}

const accounts = new WeakMap<object, Seen>();

export function seenOf(account: object): Seen {
  const known = accounts.get(account) ?? new Seen();
  accounts.set(account, known);
  return known;
}

export interface Position {
  readonly workspace: string;
  /** All messages up to this time have arrived, epoch ms. */
  readonly at: number;
}

export const cursorOf = ({ workspace, at }: Position, seen: Seen): string =>
  JSON.stringify({ workspace, at, seen: seen.newestFirst() });

/** Reads a stored cursor and adds its conversations to `seen`. Undefined for another workspace or an invalid cursor. */
export function readCursor(cursor: string | undefined, workspace: string, seen: Seen): Position | undefined {
  const stored = safeJson(cursor ?? '');
  if (!isObject(stored) || textAt(stored, 'workspace') !== workspace) return undefined;
  const { at, seen: places } = stored;
  if (typeof at !== 'number' || !Number.isSafeInteger(at) || at <= 0) return undefined;
  const known = seen.newestFirst();
  const before = Array.isArray(places) ? places.filter((place) => typeof place === 'string') : [];
  for (const place of [...before.toReversed(), ...known.toReversed()]) seen.add(place);
  return { workspace, at };
}
