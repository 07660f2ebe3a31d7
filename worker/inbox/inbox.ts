// Taking in: a delivery is stored once, with its event, before anybody is told that it was taken.
//
//   D1  `accept` resolves after the commit; what it refuses (full, storage) is not stored at all.
//   D2  A delivery id is taken once an endpoint, across restarts and retention of ids; the same id with another body is
//       counted as a conflict and not stored.
//   D3  A cursor of the platform is stored in the same unit as the deliveries that it covers.
import { SvcError } from '../../shared/svc-error.ts';
import type { Core } from '../core.ts';
import { sql, statement } from '../database/statement.ts';
import type { Statement } from '../database/unit.ts';
import { recordEvents } from '../events/event-history.ts';
import type { NewEvent } from '../events/event-types.ts';
import { buryItem, readDelivery, readPending } from './inbox-store.ts';

import { type Delivery, type PreparedItem, prepareItem, withoutRepeats } from './prepare-item.ts';

export interface InboxLimits {
  readonly maxPending: number;
  readonly maxPendingBytes: number;
}

export interface Accepted {
  /** Ids of the items that are new. */
  readonly fresh: readonly string[];
  readonly duplicates: number;
  readonly conflicts: number;
}

export interface InboxObserver {
  accepted?(endpoint: string, kind: string, count: number): void;
  duplicate?(endpoint: string, conflict: boolean): void;
}

export class Inbox {
  readonly #core: Core;
  readonly #limits: () => InboxLimits;
  readonly #observer: InboxObserver;
  readonly #listeners = new Set<() => void>();
  #items = 0;
  #bytes = 0;

  constructor(core: Core, limits: () => InboxLimits, observer: InboxObserver = {}) {
    this.#core = core;
    this.#limits = limits;
    this.#observer = observer;
  }

  /** Reads how much is waiting; before it nothing is bounded. */
  async load(): Promise<void> {
    const { items, bytes } = await readPending(this.#core.reader);
    this.#items = items;
    this.#bytes = bytes;
  }

  get pending(): { readonly items: number; readonly bytes: number } {
    return { items: this.#items, bytes: this.#bytes };
  }

  /** Called after each commit that stored an item. */
  onItem(listener: () => void): void {
    this.#listeners.add(listener);
  }

  /** An item left the open states. */
  release(bytes: number): void {
    this.#items = Math.max(0, this.#items - 1);
    this.#bytes = Math.max(0, this.#bytes - bytes);
  }

  /** A dead item came back into them. */
  returned(bytes: number): void {
    this.#items += 1;
    this.#bytes += bytes;
  }

  /** Throws `inbox_full` or `storage_unavailable`; then nothing is stored. */
  async accept(deliveries: readonly Delivery[], joined: readonly Statement[] = []): Promise<Accepted> {
    if (FAILPOINTS) await this.#core.point('received');
    const prepared = deliveries.map((delivery) => prepareItem(this.#core, delivery));
    this.#refuseWhenFull(prepared);
    const taken = this.#take(prepared, joined);
    if (FAILPOINTS && (await this.#core.point('plant.ack-before-commit')) === 'on') {
      taken.catch(() => {});
      return { fresh: prepared.map(({ id }) => id), duplicates: 0, conflicts: 0 };
    }
    return taken;
  }

  async #take(prepared: readonly PreparedItem[], joined: readonly Statement[]): Promise<Accepted> {
    // Counted from here on: many at once do not pass the bound together.
    this.#count(prepared, 1);
    let result: Stored = { stored: [], duplicates: 0, conflicts: 0 };
    try {
      result = await this.#store(prepared, joined);
    } finally {
      this.#count(prepared, -1);
      this.#count(result.stored, 1);
    }
    if (FAILPOINTS) await this.#core.point('stored');
    for (const item of result.stored) this.#observer.accepted?.(item.delivery.endpoint, item.delivery.payload.kind, 1);
    if (result.stored.length > 0) for (const listener of this.#listeners) listener();
    return { fresh: result.stored.map(({ id }) => id), duplicates: result.duplicates, conflicts: result.conflicts };
  }

  /** Statements that store one item as part of somebody else's unit (a due task). Its unit is told to `stored` afterwards. */
  statementsFor(delivery: Delivery): { readonly statements: readonly Statement[]; stored(): void } {
    const item = prepareItem(this.#core, delivery);
    return { statements: [item.insert, ...recordEvents([item.event])], stored: () => this.#count([item], 1) };
  }

  #refuseWhenFull(items: readonly PreparedItem[]): void {
    const { maxPending, maxPendingBytes } = this.#limits();
    const bytes = items.reduce((sum, item) => sum + item.bytes, 0);
    if (this.#items + items.length <= maxPending && this.#bytes + bytes <= maxPendingBytes) return;
    throw new SvcError('inbox_full', `the inbox holds ${this.#items} items (${this.#bytes} bytes) that wait`, {
      hint: 'svc inbox list shows what waits; inbox.maxPending and inbox.maxPendingBytes bound it',
      details: { retryAfterMs: 5_000 },
    });
  }

  /** Stores what nobody can handle as a dead letter, in one unit: it never waits, and nothing claims it. */
  async acceptDead(
    delivery: Delivery,
    { code, reason }: { readonly code: string; readonly reason: string },
  ): Promise<void> {
    const { clock, runtimeId, writer } = this.#core;
    const item = prepareItem(this.#core, delivery);
    const at = clock.now();
    const data = { item: item.id, handler: null, attempts: 0, code, reason };
    const dead: NewEvent = {
      type: 'inbox.dead',
      at,
      runtimeId,
      endpoint: delivery.endpoint,
      correlationId: item.id,
      data,
    };
    const statements = [item.insert, buryItem({ id: item.id, at, error: reason }), ...recordEvents([item.event, dead])];
    const answer = await writer.commit({ name: 'inbox.dead_letter', statements });
    if (answer.kind === 'refused' && answer.reason !== 'unique')
      throw new SvcError('storage_unavailable', `the delivery could not be stored: ${answer.detail}`);
  }

  async #store(items: readonly PreparedItem[], joined: readonly Statement[]): Promise<Stored> {
    let open = items;
    let duplicates =
      items.length - new Set(items.map((item) => `${item.delivery.endpoint} ${item.delivery.deliveryId}`)).size;
    if (duplicates > 0) open = withoutRepeats(items);
    let conflicts = 0;
    for (;;) {
      const statements = [
        ...open.map((item) => item.insert),
        ...joined,
        ...recordEvents(open.map((item) => item.event)),
      ];
      if (statements.length === 0) return { stored: [], duplicates, conflicts };
      const answer = await this.#core.writer.commit({ name: 'inbox.accept', statements });
      if (answer.kind === 'committed') return { stored: open, duplicates, conflicts };
      if (answer.reason !== 'unique')
        throw new SvcError('storage_unavailable', `the delivery could not be stored: ${answer.detail}`);
      const known = await this.#known(open);
      duplicates += known.length;
      conflicts += known.filter(({ conflict }) => conflict).length;
      if (known.length === 0)
        throw new SvcError(
          'storage_unavailable',
          'the delivery could not be stored: its id is taken and cannot be found',
        );
      open = open.filter((item) => !known.some((one) => one.item === item));
    }
  }

  async #known(items: readonly PreparedItem[]): Promise<{ item: PreparedItem; conflict: boolean }[]> {
    const known: { item: PreparedItem; conflict: boolean }[] = [];
    for (const item of items) {
      const row = await readDelivery(this.#core.reader, item.delivery.endpoint, item.delivery.deliveryId);
      if (row === undefined) continue;
      const conflict = row.sha256 !== item.sha256;
      known.push({ item, conflict });
      this.#observer.duplicate?.(item.delivery.endpoint, conflict);
      if (conflict) this.#tellConflict(item, row.id);
    }
    return known;
  }

  #tellConflict({ delivery, bytes, sha256 }: PreparedItem, stored: string): void {
    const { clock, runtimeId, log, writer } = this.#core;
    log.warn({ endpoint: delivery.endpoint, item: stored }, 'delivery id was used again with another body');
    const data = { item: stored, delivery: delivery.deliveryId, bytes, sha256 };
    const event: NewEvent = {
      type: 'inbox.duplicate_conflict',
      at: clock.now(),
      runtimeId,
      endpoint: delivery.endpoint,
      data,
    };
    writer.commit({ name: 'inbox.conflict', statements: recordEvents([event]) }).catch(() => {}); // the log has it
  }

  #count(items: readonly PreparedItem[], sign: 1 | -1): void {
    this.#items += sign * items.length;
    this.#bytes += sign * items.reduce((sum, item) => sum + item.bytes, 0);
  }
}

interface Stored {
  readonly stored: readonly PreparedItem[];
  readonly duplicates: number;
  readonly conflicts: number;
}

/** The platform's position of an endpoint, stored with the deliveries that it covers. */
export function keepCursor(endpoint: string, cursor: string): Statement {
  return statement(
    sql
      .insertInto('endpoints')
      .values({ endpoint, cursor, revision: 0 })
      .onConflict((conflict) => conflict.column('endpoint').doUpdateSet({ cursor })),
  );
}
