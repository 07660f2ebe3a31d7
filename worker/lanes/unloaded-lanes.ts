// Lanes of which the disk has, or is about to have, items that are not in memory yet: what comes after those must not start before them.

export class UnloadedLanes {
  /** How many of each. */
  readonly #counts = new Map<string, number>();
  /** Of those that are stored: a read that begins from now on sees them. */
  #stored: string[] = [];

  has(lane: string): boolean {
    return this.#counts.has(lane);
  }

  /** An item is on its way to the disk. */
  add(lane: string): void {
    this.#counts.set(lane, (this.#counts.get(lane) ?? 0) + 1);
  }

  /** It is there. */
  stored(lane: string): void {
    this.#stored.push(lane);
  }

  /** It never will be. */
  remove(lane: string): void {
    const left = (this.#counts.get(lane) ?? 1) - 1;
    if (left === 0) this.#counts.delete(lane);
    else this.#counts.set(lane, left);
  }

  /** A read begins. Called with whether it has brought all that it could see into memory. */
  reading(): (isWhole: boolean) => void {
    const seen = this.#stored;
    this.#stored = [];
    return (isWhole) => {
      if (isWhole) for (const lane of seen) this.remove(lane);
      else this.#stored.push(...seen);
    };
  }
}
