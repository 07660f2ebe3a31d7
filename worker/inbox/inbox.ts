// Taking in: a delivery is stored once, with its event, before anybody is told that it was taken.
//
//   D1  `accept` resolves after the commit; what it refuses (full, storage) is not stored at all. Who is refused: admission.ts.
//   D2  A delivery id is taken once an endpoint, across restarts and retention of ids; the same id with another body is
//       counted as a conflict and not stored.
//   D3  A cursor of the platform is stored in the same unit as the deliveries that it covers.
import { uuidv7 } from '../../shared/identifiers.ts';
import { SvcError } from '../../shared/svc-error.ts';
import type { Core } from '../core.ts';
import type { Statement, Unit, UnitAnswer } from '../database/unit.ts';
import { recordEvents } from '../events/event-history.ts';
import type { NewEvent } from '../events/event-types.ts';
import { commitClaiming } from '../lanes/claims.ts';
import type { Slot } from '../lanes/lane-runner.ts';
import { RecentRows } from '../lanes/recent-rows.ts';
import { type Amount, refusal, roomForOwn } from './admission.ts';
import { buryItem, type ItemHead, readDelivery } from './inbox-store.ts';
import { type Counted, OpenItems } from './open-items.ts';
import { type Delivery, type NewRow, type PreparedItem, prepareItem, withoutRepeats } from './prepare-item.ts';

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
  /** The number of the generation in which nobody listens to this delivery; undefined when somebody may. */
  passedBy?(delivery: Delivery): number | undefined;
  /** A start at once for an item whose lane is idle; undefined when it has to wait. */
  reserve?(item: ItemHead): Slot | undefined;
  accepted?(row: NewRow): void;
  duplicate?(endpoint: string, conflict: boolean): void;
  /** How many take deliveries: each has a part of the inbox. */
  endpoints?(): number;
}

/** What joins the unit that stores these items. */
export type Joined = (ids: readonly string[]) => readonly Statement[];

export class Inbox {
  readonly #core: Core;
  readonly #limits: () => InboxLimits;
  readonly #observer: InboxObserver;
  readonly #listeners = new Set<() => void>();
  readonly recent = new RecentRows<NewRow>();
  readonly #open = new OpenItems();

  constructor(core: Core, limits: () => InboxLimits, observer: InboxObserver = {}) {
    this.#core = core;
    this.#limits = limits;
    this.#observer = observer;
  }

  /** Reads how much is waiting; before it nothing is bounded. */
  async load(): Promise<void> {
    await this.#open.load(this.#core.reader);
  }

  get pending(): Amount {
    const { items, bytes } = this.#open;
    return { items, bytes };
  }

  /** How many items of the host's own it would take: tasks, jobs, events for subscribers. */
  get room(): number {
    return roomForOwn(this.#open, this.#bound);
  }

  get #bound(): Amount {
    const { maxPending, maxPendingBytes } = this.#limits();
    return { items: maxPending, bytes: maxPendingBytes };
  }

  /** How many of a lane are open. */
  openIn(lane: string): number {
    return this.#open.of(lane);
  }

  /** Called after each commit that stored an item. */
  onItem(listener: () => void): void {
    this.#listeners.add(listener);
  }

  /** An item left the open states. */
  release(item: Counted): void {
    this.#open.remove(item);
  }

  /** A dead item came back into them. */
  returned(item: Counted): void {
    this.#open.add(item);
  }

  /** What one endpoint hands in. Throws `inbox_full` or `storage_unavailable`; then nothing is stored. */
  async accept(deliveries: readonly Delivery[], joined: Joined = () => []): Promise<Accepted> {
    if (FAILPOINTS) await this.#core.point('received');
    const prepared: Taken[] = [];
    try {
      for (const delivery of deliveries) prepared.push(this.#prepare(delivery));
      this.#refuseWhenFull(prepared);
    } catch (error) {
      for (const item of prepared) this.#giveBack(item);
      throw error;
    }
    const taken = this.#take(prepared, joined);
    if (FAILPOINTS && (await this.#core.point('plant.ack-before-commit')) === 'on') {
      taken.catch(() => {});
      return { fresh: prepared.map(({ row }) => row.id), duplicates: 0, conflicts: 0 };
    }
    return taken;
  }

  /**
   * What nobody listens to is over as soon as it is stored, and what may run at once is stored as claimed; neither before an item of its
   * lane that is open: that one may ask something.
   */
  #prepare(delivery: Delivery): Taken {
    const { endpoint, lane, payload } = delivery;
    const isIdle = this.#open.isIdle(lane);
    const passedBy = isIdle ? this.#observer.passedBy?.(delivery) : undefined;
    const id = uuidv7(this.#core.clock.now());
    const head = { seq: 0, id, endpoint, lane, kind: payload.kind, bytes: 0, nextAt: null };
    const slot = isIdle && passedBy === undefined ? this.#observer.reserve?.(head) : undefined;
    try {
      const item = prepareItem(this.#core, delivery, { id, passedBy, isClaimed: slot !== undefined });
      head.bytes = item.row.bytes;
      this.#open.add(item.row);
      return { row: item.row, insert: item.insert, events: item.events, slot };
    } catch (error) {
      slot?.abandon();
      throw error;
    }
  }

  /** It is not stored. */
  #giveBack({ row, slot }: Taken): void {
    this.#open.remove(row);
    slot?.abandon();
  }

  async #take(prepared: readonly Taken[], joined: Joined): Promise<Accepted> {
    let result: Stored = { stored: [], duplicates: 0, conflicts: 0 };
    try {
      result = await this.#store(prepared, joined);
    } finally {
      for (const item of prepared) {
        if (!result.stored.includes(item)) this.#giveBack(item);
        else if (item.row.state === 'done') this.#open.remove(item.row);
      }
    }
    if (FAILPOINTS) await this.#core.point('stored');
    let isOpen = false;
    for (const { row, slot } of result.stored) {
      this.#observer.accepted?.(row);
      if (row.state === 'done') continue;
      this.recent.keep(row);
      if (slot === undefined) isOpen = true;
      else slot.begin();
    }
    if (isOpen) for (const listener of this.#listeners) listener();
    return {
      fresh: result.stored.map(({ row }) => row.id),
      duplicates: result.duplicates,
      conflicts: result.conflicts,
    };
  }

  /** Stores one item as part of somebody else's unit (a due task), after its own statements. */
  async storeWith(delivery: Delivery, unit: Unit): Promise<UnitAnswer> {
    const { row, insert, events } = prepareItem(this.#core, delivery);
    this.#open.add(row);
    let isStored = false;
    try {
      const statements = [...unit.statements, insert, ...recordEvents(events)];
      const answer = await this.#core.writer.commit({ name: unit.name, statements });
      isStored = answer.kind === 'committed';
      return answer;
    } finally {
      if (!isStored) this.#open.remove(row);
    }
  }

  /** The item as which a delivery is stored. */
  async idOf(endpoint: string, deliveryId: string): Promise<string | undefined> {
    return (await readDelivery(this.#core.reader, endpoint, deliveryId))?.id;
  }

  /** What comes now is counted already. */
  #refuseWhenFull(prepared: readonly Taken[]): void {
    const [first] = prepared;
    if (first === undefined) return;
    const batch = { items: prepared.length, bytes: prepared.reduce((sum, { row }) => sum + row.bytes, 0) };
    const error = refusal(
      this.#open,
      { endpoint: first.row.endpoint, batch },
      { bound: this.#bound, endpoints: () => this.#observer.endpoints?.() ?? 1 },
    );
    if (error !== undefined) throw error;
  }

  /**
   * Stores what nobody can handle as a dead letter, in one unit: it never waits, and nothing claims it. Its id, unless it is stored
   * already. The error may quote what a person wrote: the item alone has it.
   */
  async acceptDead(
    delivery: Delivery,
    { code, reason, error }: { readonly code: string; readonly reason: string; readonly error: string },
  ): Promise<string | undefined> {
    const { clock, runtimeId, writer } = this.#core;
    const { row, insert, events } = prepareItem(this.#core, delivery);
    const at = clock.now();
    const data = { item: row.id, handler: null, attempts: 0, code, reason };
    const dead: NewEvent = {
      type: 'inbox.dead',
      at,
      runtimeId,
      endpoint: delivery.endpoint,
      correlationId: row.id,
      data,
    };
    const statements = [insert, buryItem({ id: row.id, at, error }), ...recordEvents([...events, dead])];
    const answer = await writer.commit({ name: 'inbox.dead_letter', statements });
    if (answer.kind === 'committed') return row.id;
    if (answer.reason === 'unique') return undefined;
    throw new SvcError('storage_unavailable', `the delivery could not be stored: ${answer.detail}`);
  }

  async #store(items: readonly Taken[], joined: Joined): Promise<Stored> {
    let open = items.length > 1 ? withoutRepeats(items) : items;
    let duplicates = items.length - open.length;
    let conflicts = 0;
    for (;;) {
      const statements = [
        ...open.map((item) => item.insert),
        ...joined(open.map(({ row }) => row.id)),
        ...recordEvents(open.flatMap((item) => item.events)),
      ];
      if (statements.length === 0) return { stored: [], duplicates, conflicts };
      const isClaiming = open.some(({ slot }) => slot !== undefined);
      const answer = await commitClaiming(this.#core, { name: 'inbox.accept', statements }, isClaiming);
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
      const row = await readDelivery(this.#core.reader, item.row.endpoint, item.row.delivery_id);
      if (row === undefined) continue;
      const conflict = row.sha256 !== item.row.sha256;
      known.push({ item, conflict });
      this.#observer.duplicate?.(item.row.endpoint, conflict);
      if (conflict) this.#tellConflict(item, row.id);
    }
    return known;
  }

  #tellConflict({ row: { endpoint, delivery_id: delivery, bytes, sha256 } }: PreparedItem, stored: string): void {
    const { clock, runtimeId, log, writer } = this.#core;
    log.warn({ endpoint, item: stored }, 'delivery id was used again with another body');
    const data = { item: stored, delivery, bytes, sha256 };
    const event: NewEvent = {
      type: 'inbox.duplicate_conflict',
      at: clock.now(),
      runtimeId,
      endpoint,
      data,
    };
    writer.commit({ name: 'inbox.conflict', statements: recordEvents([event]) }).catch(() => {}); // the log has it
  }
}

/** `slot`: its place, when it is to run as soon as it is stored. */
interface Taken extends PreparedItem {
  readonly slot: Slot | undefined;
}

interface Stored {
  readonly stored: readonly Taken[];
  readonly duplicates: number;
  readonly conflicts: number;
}
