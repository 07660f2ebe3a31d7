// How much of the inbox is open, in all, by lane and by endpoint: read once at the start, then counted in memory, because this process is
// the only one that adds and ends items.
//
//   O1  An item is counted before it is handed to the writer: many at once do not pass a bound together, and a lane that counts none
//       has none on disk either.
//   O2  What is stored as done counts for the bounds while it is on its way, and never for its lane: nothing waits for it.
//   O3  What the host put in by itself (tasks, jobs, events) is of no endpoint.
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
    // A start whose storage failed reads again.
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
      this.own.add(items, bytes); // O3
      return;
    }
    let count = this.held.get(endpoint);
    if (count === undefined) this.held.set(endpoint, (count = new Count()));
    count.add(items, bytes);
    if (count.items === 0) this.held.delete(endpoint);
  }
}
