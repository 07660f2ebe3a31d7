// Lanes with items that are on disk, or on their way there, but not in memory yet. Later items of these lanes must not start before those.

export class UnloadedLanes {
  /** Number of such items by lane. */
  readonly #counts = new Map<string, number>();
  /** Lanes of stored items that no read has seen yet. A read that begins from now on sees them. */
  #stored: string[] = [];

  has(lane: string): boolean {
    return this.#counts.has(lane);
  }

  /** An item of this lane is about to be stored. */
  add(lane: string): void {
    this.#counts.set(lane, (this.#counts.get(lane) ?? 0) + 1);
  }

  /** The item is on disk. */
  stored(lane: string): void {
    this.#stored.push(lane);
  }

  /** The item was not stored. */
  remove(lane: string): void {
    const left = (this.#counts.get(lane) ?? 1) - 1;
    if (left === 0) this.#counts.delete(lane);
    else this.#counts.set(lane, left);
  }

  /** A read begins. The returned function is called at its end; `isWhole`: all that the read could see is in memory. */
  reading(): (isWhole: boolean) => void {
    const seen = this.#stored;
    this.#stored = [];
    return (isWhole) => {
      if (isWhole) for (const lane of seen) this.remove(lane);
      else this.#stored.push(...seen);
    };
  }
}
