// Lines of the log that anybody may cause as often as he likes: one of each kind a minute tells of the first, and of how many came behind the last.

const EVERY_MS = 60_000;

interface Told {
  readonly at: number;
  /** Since then, without a line. */
  more: number;
}

export class Seldom {
  readonly #now: () => number;
  /** By kind: whoever asks has a bounded number of them. */
  readonly #told = new Map<string, Told>();

  constructor(now: () => number) {
    this.#now = now;
  }

  /** How many came since the last line; undefined when this one gets none. */
  unsaid(what: string): number | undefined {
    const now = this.#now();
    const told = this.#told.get(what);
    // A clock that was set back does not silence it.
    if (told !== undefined && now >= told.at && now - told.at < EVERY_MS) {
      told.more += 1;
      return undefined;
    }
    this.#told.set(what, { at: now, more: 0 });
    return told?.more ?? 0;
  }
}
