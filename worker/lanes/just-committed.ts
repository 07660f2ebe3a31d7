// Rows that this process has just committed, so that who runs them need not read back what it has in its hands.
//
//   R1  A row is kept only after its commit, and given once: whoever comes again reads the disk. Whoever has run it takes it out again:
//       it may have been read from the disk first, and kept after.
//   R2  A row is on the disk before the answer to its commit is here: who meets it there meanwhile waits for that.
//   R3  Bounded in rows and bytes: what does not fit is read from the disk.
// A row may have been ended by somebody else meanwhile: whoever takes it claims it on disk, and that claim is refused.

const MOST_ROWS = 2_048;
const MOST_BYTES = 8 * 1_024 * 1_024;

export class JustCommitted<T extends { readonly id: string; readonly bytes: number }> {
  readonly #rows = new Map<string, T>();
  #bytes = 0;
  readonly #coming = new Map<string, Promise<void>>();

  /** They are being committed, until the function is called: by then they are kept, or not stored. */
  coming(rows: readonly T[]): () => void {
    let arrive = (): void => {};
    const arrived = new Promise<void>((resolve) => {
      arrive = resolve;
    });
    for (const { id } of rows) this.#coming.set(id, arrived);
    return () => {
      for (const { id } of rows) this.#coming.delete(id);
      arrive();
    };
  }

  keep(row: T): void {
    if (this.#rows.size >= MOST_ROWS || this.#bytes + row.bytes > MOST_BYTES) this.#forgetOldest(row.bytes);
    if (row.bytes > MOST_BYTES) return;
    this.#rows.set(row.id, row);
    this.#bytes += row.bytes;
  }

  has(id: string): boolean {
    return this.#rows.has(id);
  }

  /** Undefined when it is not being committed now. */
  arrival(id: string): Promise<void> | undefined {
    return this.#coming.get(id);
  }

  take(id: string): T | undefined {
    const row = this.#rows.get(id);
    if (row === undefined) return undefined;
    this.#rows.delete(id);
    this.#bytes -= row.bytes;
    return row;
  }

  /** Those that nobody came for: their lanes wait, or somebody else ended them. */
  #forgetOldest(bytes: number): void {
    for (const id of this.#rows.keys()) {
      if (this.#rows.size < MOST_ROWS && this.#bytes + bytes <= MOST_BYTES) return;
      this.take(id);
    }
  }
}
