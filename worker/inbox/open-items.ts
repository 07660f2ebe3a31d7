// How much of the inbox is open, in all and by lane: read once at the start, then counted in memory, because this process is the only one
// that adds and ends items.
//
//   O1  An item is counted before it is handed to the writer: many at once do not pass a bound together, and a lane that counts none
//       has none on disk either.
//   O2  What is stored as done counts for the bounds while it is on its way, and never for its lane: nothing waits for it.
import { isOpen } from '../database/open-rows.ts';
import { sql } from '../database/statement.ts';
import type { Reader } from '../database/unit.ts';

interface Counted {
  readonly lane: string;
  readonly bytes: number;
  readonly state?: string;
}

export class OpenItems {
  readonly #lanes = new Map<string, number>();
  items = 0;
  bytes = 0;

  async load(reader: Reader): Promise<void> {
    const rows = await reader.all(
      sql
        .selectFrom('inbox')
        .select(({ fn }) => ['lane', fn.countAll<number>().as('items'), fn.sum<number | null>('bytes').as('bytes')])
        .where(isOpen)
        .groupBy('lane'),
    );
    // A start whose storage failed reads again.
    this.#lanes.clear();
    this.items = 0;
    this.bytes = 0;
    for (const { lane, items, bytes } of rows) {
      this.#lanes.set(lane, Number(items));
      this.items += Number(items);
      this.bytes += Number(bytes ?? 0);
    }
  }

  isIdle(lane: string): boolean {
    return !this.#lanes.has(lane);
  }

  of(lane: string): number {
    return this.#lanes.get(lane) ?? 0;
  }

  add({ lane, bytes, state }: Counted): void {
    this.items += 1;
    this.bytes += bytes;
    if (state === 'done') return;
    this.#lanes.set(lane, (this.#lanes.get(lane) ?? 0) + 1);
  }

  remove({ lane, bytes, state }: Counted): void {
    this.items = Math.max(0, this.items - 1);
    this.bytes = Math.max(0, this.bytes - bytes);
    if (state === 'done') return;
    const left = (this.#lanes.get(lane) ?? 1) - 1;
    if (left === 0) this.#lanes.delete(lane);
    else this.#lanes.set(lane, left);
  }
}
