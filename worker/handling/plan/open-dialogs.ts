// Whose dialogs may be open: known in memory, so that a message of somebody without one needs no read.
//
//   O1  Never misses an open dialog: an owner is noted before its dialog is committed, and what cannot be listed counts as open.
//   O2  Bounded: with more owners than MOST everybody may have one, and the disk is asked.
import { sql } from '../../database/statement.ts';
import type { Reader } from '../../database/unit.ts';

const MOST = 10_000;

export class OpenDialogs {
  /** Undefined: everybody may have one. */
  #owners: Set<string> | undefined;

  async load(reader: Reader): Promise<void> {
    const rows = await reader.all(
      sql
        .selectFrom('dialogs')
        .select('owner')
        .limit(MOST + 1),
    );
    this.#owners = rows.length > MOST ? undefined : new Set(rows.map(({ owner }) => owner));
  }

  mayBeOpen(owner: string): boolean {
    return this.#owners?.has(owner) ?? true;
  }

  /** Before the commit of a dialog. */
  opens(owner: string): void {
    if (this.#owners?.add(owner) !== undefined && this.#owners.size > MOST) this.#owners = undefined;
  }

  /** After the commit of its end. */
  closed(owner: string): void {
    this.#owners?.delete(owner);
  }
}
