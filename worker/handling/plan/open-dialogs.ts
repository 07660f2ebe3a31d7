// Owners of dialogs that may be open, kept in memory. A message from anyone else needs no read.
//
//   OPEN-DIALOGS-1  An open dialog is never missed: the owner is added before the commit, and unknown owners count as having one.
//   OPEN-DIALOGS-2  Memory is bounded. With more than MOST owners, everyone may have a dialog and the disk is read.
import { sql } from '../../database/statement.ts';
import type { Reader } from '../../database/unit.ts';

const MOST = 10_000;

export class OpenDialogs {
  /** Undefined: everyone may have an open dialog. */
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

  /** Call before the commit that opens a dialog. */
  opens(owner: string): void {
    if (this.#owners?.add(owner) !== undefined && this.#owners.size > MOST) this.#owners = undefined;
  }

  /** Call after the commit that ends a dialog. */
  closed(owner: string): void {
    this.#owners?.delete(owner);
  }
}
