// Where an account was up to in its conversations: the cursor that is stored with what arrives, from which a history is read. Pure but for its
// own memory. The MOST_PLACES conversations that were heard of last are kept, each with the second of its last message.

import type { Arrival } from '../../sdk/index.ts';
import { isObject } from '../../sdk/platform/foreign-json.ts';
import { safeJson } from '../../sdk/text/safe-json.ts';

const MOST_PLACES = 100;

export class Seen {
  /** By conversation, in seconds; the one that was heard of last is last. */
  readonly #places: Map<string, number>;

  constructor(cursor: string | undefined) {
    const value = cursor === undefined ? undefined : safeJson(cursor);
    const entries = isObject(value) ? Object.entries(value) : [];
    this.#places = new Map(entries.filter((entry): entry is [string, number] => Number.isSafeInteger(entry[1])));
  }

  /** What was seen until now. */
  places(): ReadonlyMap<string, number> {
    return new Map(this.#places);
  }

  /** The cursor, with this as the last second of a conversation. */
  mark(name: string, second: number): string {
    this.#places.set(name, second);
    return this.#cursor();
  }

  /** The cursor, once these are stored. */
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
