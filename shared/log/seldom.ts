// Limits log lines that outside callers can cause at will. One line of each kind a minute is logged, with a count of the suppressed ones.

const EVERY_MS = 60_000;

interface Told {
  readonly at: number;
  /** Suppressed since that line. */
  more: number;
}

export class Seldom {
  readonly #now: () => number;
  /** By kind. The caller has a bounded number of kinds. */
  readonly #told = new Map<string, Told>();

  constructor(now: () => number) {
    this.#now = now;
  }

  /** How many lines were suppressed since the last one. Undefined if this one is suppressed, too. */
  unsaid(what: string): number | undefined {
    const now = this.#now();
    const told = this.#told.get(what);
    // A clock that was set back must not suppress lines.
    if (told !== undefined && now >= told.at && now - told.at < EVERY_MS) {
      told.more += 1;
      return undefined;
    }
    this.#told.set(what, { at: now, more: 0 });
    return told?.more ?? 0;
  }
}
