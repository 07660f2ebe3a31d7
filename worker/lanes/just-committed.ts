// Cache of rows that this process has just committed, so that their runner need not read them back.
//
//   JUST-COMMITTED-1  A row enters the cache after its commit and is given out once; later readers use the disk. A runner also removes its row at the
//                     end. The runner may have read the disk before the row was cached.
//   JUST-COMMITTED-2  A row is on disk before its commit is answered. A reader that finds the row in between waits for the answer.
//   JUST-COMMITTED-3  The cache is bounded in rows and bytes. Rows that do not fit are read from disk.
//
// An operator may have ended a cached row meanwhile. The claim on disk then refuses the row.

const MOST_ROWS = 2_048;
const MOST_BYTES = 8 * 1_024 * 1_024;

export class JustCommitted<T extends { readonly id: string; readonly bytes: number }> {
  readonly #rows = new Map<string, T>();
  #bytes = 0;
  readonly #coming = new Map<string, Promise<void>>();

  /** Announces rows whose commit is under way. The returned function is called once they are cached or not stored. */
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

  /** Resolves when the commit of this row is answered; undefined if none is under way. */
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

  /** Old rows stay if their lanes wait, or if an operator has ended them. */
  #forgetOldest(bytes: number): void {
    for (const id of this.#rows.keys()) {
      if (this.#rows.size < MOST_ROWS && this.#bytes + bytes <= MOST_BYTES) return;
      this.take(id);
    }
  }
}
