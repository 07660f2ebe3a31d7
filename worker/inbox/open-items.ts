// Counts of open items: in total, by lane and by endpoint. They are read once at start and then kept in memory, because this process is the only
// writer.
//
//   OPEN-ITEMS-1  An item is counted before it is handed to the writer. Concurrent batches cannot pass the bound together, and a lane with count 0
//                 has no open item on disk.
//   OPEN-ITEMS-2  An item that is stored as done counts for the bounds until its commit ends. It never counts for its lane, because nothing waits for
//                 it.
//   OPEN-ITEMS-3  The host's own items (tasks, jobs, events) belong to no endpoint.
import { isOpen } from '../database/open-rows.ts';
import { sql } from '../database/statement.ts';
import type { InboxKind } from '../database/tables.ts';
import type { Reader } from '../database/unit.ts';
import type { Amount, Waiting } from './admission.ts';

export interface Counted {
  readonly endpoint: string;
  readonly lane: string;
  readonly kind: InboxKind;
  readonly bytes: number;
  readonly state?: string;
}

class Count implements Amount {
  items = 0;
  bytes = 0;

  add(items: number, bytes: number): void {
    this.items = Math.max(0, this.items + items);
    this.bytes = Math.max(0, this.bytes + bytes);
  }
}

export class OpenItems implements Waiting {
  readonly #lanes = new Map<string, number>();
  readonly #all = new Count();
  readonly own = new Count();
  readonly held = new Map<string, Count>();

  async load(reader: Reader): Promise<void> {
    const rows = await reader.all(
      sql
        .selectFrom('inbox')
        .select(({ fn }) => [
          'lane',
          'endpoint',
          'kind',
          fn.countAll<number>().as('items'),
          fn.sum<number | null>('bytes').as('bytes'),
        ])
        .where(isOpen)
        .groupBy(['lane', 'endpoint', 'kind']),
    );
    // A start is repeated after a storage failure, so the counts are reset first.
    this.#lanes.clear();
    this.held.clear();
    for (const count of [this.#all, this.own]) count.add(-count.items, -count.bytes);
    for (const { lane, endpoint, kind, items, bytes } of rows) {
      this.#lanes.set(lane, this.of(lane) + Number(items));
      this.#count({ endpoint, kind }, Number(items), Number(bytes ?? 0));
    }
  }

  get items(): number {
    return this.#all.items;
  }
  get bytes(): number {
    return this.#all.bytes;
  }

  isIdle(lane: string): boolean {
    return !this.#lanes.has(lane);
  }

  of(lane: string): number {
    return this.#lanes.get(lane) ?? 0;
  }

  add(item: Counted): void {
    this.#count(item, 1, item.bytes);
    if (item.state === 'done') return;
    this.#lanes.set(item.lane, this.of(item.lane) + 1);
  }

  remove(item: Counted): void {
    this.#count(item, -1, -item.bytes);
    if (item.state === 'done') return;
    const left = (this.#lanes.get(item.lane) ?? 1) - 1;
    if (left === 0) this.#lanes.delete(item.lane);
    else this.#lanes.set(item.lane, left);
  }

  #count({ endpoint, kind }: Pick<Counted, 'endpoint' | 'kind'>, items: number, bytes: number): void {
    this.#all.add(items, bytes);
    if (kind !== 'arrival' && kind !== 'webhook') {
      this.own.add(items, bytes); // belongs to no endpoint
      return;
    }
    let count = this.held.get(endpoint);
    if (count === undefined) this.held.set(endpoint, (count = new Count()));
    count.add(items, bytes);
    if (count.items === 0) this.held.delete(endpoint);
  }
}
