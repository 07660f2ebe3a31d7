// The cursor of an account: the last seen second of each conversation, stored with new events. The history is read from there.
// Pure, except for its own memory. Keeps the MOST_PLACES most recent conversations.

import type { Arrival } from '../../sdk/index.ts';
import { isObject } from '../../sdk/platform/foreign-json.ts';
import { safeJson } from '../../sdk/text/safe-json.ts';

const MOST_PLACES = 100;

export class Seen {
  /** Seconds by conversation, most recent last. */
  readonly #places: Map<string, number>;

  constructor(cursor: string | undefined) {
    const value = cursor === undefined ? undefined : safeJson(cursor);
    const entries = isObject(value) ? Object.entries(value) : [];
    this.#places = new Map(entries.filter((entry): entry is [string, number] => Number.isSafeInteger(entry[1])));
  }

  /** A copy of the current state. */
  places(): ReadonlyMap<string, number> {
    return new Map(this.#places);
  }

  /** Sets the last second of a conversation. Returns the cursor. */
  mark(name: string, second: number): string {
    this.#places.set(name, second);
    return this.#cursor();
  }

  /** The cursor after these events are stored. */
  after(arrivals: readonly Arrival[]): string {
    for (const { kind, conversation, sentAt } of arrivals) {
      if (kind !== 'message') continue;
      const before = this.#places.get(conversation.id) ?? 0;
      this.#places.delete(conversation.id);
      this.#places.set(conversation.id, Math.max(before, Math.floor(sentAt / 1_000)));
    }
    return this.#cursor();
  }

  #cursor(): string {
    for (const name of this.#places.keys()) {
      if (this.#places.size <= MOST_PLACES) break;
      this.#places.delete(name);
    }
    return JSON.stringify(Object.fromEntries(this.#places));
  }
}
