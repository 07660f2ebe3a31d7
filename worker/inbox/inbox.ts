// Acceptance of deliveries. A delivery and its event are committed before the sender gets an acknowledgement.
//
//   INBOX-1  `accept` resolves after the commit. A refused delivery (inbox full, storage failure) is not stored at all.
//   INBOX-2  A delivery id is taken once an endpoint, across restarts, for as long as its row is retained. A known id with another body counts as a
//            conflict and is not stored. A full inbox still acknowledges known ids, because duplicates need no room.
//   INBOX-3  A cursor of the platform is committed in the same transaction as the deliveries that it covers.
import { uuidv7 } from '../../shared/identifiers.ts';
import { messageOf, SvcError } from '../../shared/svc-error.ts';
import type { Core } from '../core/core.ts';
import type { Statement, Unit, UnitAnswer } from '../database/unit.ts';
import { recordEvents } from '../events/event-history.ts';
import { commitClaiming } from '../lanes/claims.ts';
import { JustCommitted } from '../lanes/just-committed.ts';
import type { Slot } from '../lanes/lane-runner.ts';
import { type Amount, refusal, roomForOwn } from './admission.ts';
import { storeDead, type WhyDead } from './dead-letter.ts';
import { findDuplicates, type Repeat } from './duplicates.ts';
import { type ItemHead, readDelivery } from './inbox-store.ts';
import { letGoItems } from './left-items-store.ts';
import { type Counted, OpenItems } from './open-items.ts';
import { type Delivery, type NewRow, type PreparedItem, prepareItem, withoutRepeats } from './prepare-item.ts';

export interface InboxLimits {
  readonly maxPending: number;
  readonly maxPendingBytes: number;
}

export interface Accepted {
  /** Ids of the new items. */
  readonly fresh: readonly string[];
  readonly duplicates: number;
  readonly conflicts: number;
}

/** Questions that the inbox asks other rooms while it accepts a delivery. */
export interface InboxPorts {
  /** Number of the generation in which no handler listens to this delivery; undefined if a handler may. */
  unheardIn?(delivery: Delivery): number | undefined;
  /** Reserves an idle lane so that the item starts as soon as it is stored; undefined if the item has to wait. */
  reserveLane?(item: ItemHead): Slot | undefined;
  /** Number of accounts and plugin webhooks that take deliveries. Each has a share of the inbox. */
  shares?(): number;
}

/** Called after the commit. */
export interface InboxObserver {
  accepted?(row: NewRow): void;
  duplicate?(endpoint: string, conflict: boolean): void;
}

/** Statements that join the transaction that stores these items. */
export type Joined = (ids: readonly string[]) => readonly Statement[];

export class Inbox {
  readonly #core: Core;
  readonly #limits: () => InboxLimits;
  readonly #ports: InboxPorts;
  readonly #observer: InboxObserver;
  readonly #listeners = new Set<() => void>();
  readonly recent = new JustCommitted<NewRow>();
  readonly #open = new OpenItems();

  constructor(core: Core, limits: () => InboxLimits, around: InboxPorts & InboxObserver = {}) {
    this.#core = core;
    this.#limits = limits;
    this.#ports = around;
    this.#observer = around;
  }

  /** Counts the open items on disk. Without this count no bound holds. */
  async load(): Promise<void> {
    await this.#open.load(this.#core.reader);
  }

  get pending(): Amount {
    const { items, bytes } = this.#open;
    return { items, bytes };
  }

  /** How many more of the host's own items (tasks, jobs, events for subscribers) the inbox takes. */
  get room(): number {
    return roomForOwn(this.#open, this.#bound);
  }

  get #bound(): Amount {
    const { maxPending, maxPendingBytes } = this.#limits();
    return { items: maxPending, bytes: maxPendingBytes };
  }

  /** Number of open items in this lane. */
  openIn(lane: string): number {
    return this.#open.of(lane);
  }

  /** The listener is called after each commit that stored an open item without starting it. */
  onItem(listener: () => void): void {
    this.#listeners.add(listener);
  }

  /** Removes an item from the count of open items. */
  release(item: Counted): void {
    this.#open.remove(item);
  }

  /** An orderly stop interrupted the running items, so they do not count as in hand at a process death. If the storage fails, they do. */
  async letGo(): Promise<void> {
    const { log, writer } = this.#core;
    await writer.commit({ name: 'inbox.cut', statements: [letGoItems()] }).catch((error: unknown) => {
      log.warn({ error: messageOf(error) }, 'what the stop has cut counts as in hand at a death');
    });
  }

  /** Counts a replayed item as open again. */
  returned(item: Counted): void {
    this.#open.add(item);
  }

  /** Accepts a batch from one endpoint. Throws `inbox_full` or `storage_unavailable`; then nothing is stored. */
  async accept(deliveries: readonly Delivery[], joined: Joined = () => []): Promise<Accepted> {
    if (FAILPOINTS) await this.#core.point('received');
    return this.#acceptAll(deliveries, joined);
  }

  async #acceptAll(deliveries: readonly Delivery[], joined: Joined): Promise<Accepted> {
    const prepared: Taken[] = [];
    let full: SvcError | undefined;
    try {
      for (const delivery of deliveries) prepared.push(this.#prepare(delivery));
      full = this.#refusal(prepared);
    } catch (error) {
      for (const item of prepared) this.#giveBack(item);
      throw error;
    }
    if (full !== undefined) return this.#acceptRest(deliveries, { prepared, joined, full });
    return this.#take(prepared, joined);
  }

  /** The batch does not fit. Duplicates need no room, so only the new items are tried again. Throws `full` if there are no duplicates. */
  async #acceptRest(deliveries: readonly Delivery[], { prepared, joined, full }: Refused): Promise<Accepted> {
    for (const item of prepared) this.#giveBack(item);
    const known = await this.#known(prepared);
    if (known.length === 0) throw full;
    const rest = deliveries.filter((_delivery, index) => !known.some(({ item }) => item === prepared[index]));
    const { fresh, duplicates, conflicts } = await this.#acceptAll(rest, joined);
    return {
      fresh,
      duplicates: duplicates + known.length,
      conflicts: conflicts + known.filter(({ conflict }) => conflict).length,
    };
  }

  /**
   * In an idle lane, an item without a listener is stored as done. An item that may run at once is stored as claimed. Neither happens behind an open
   * item, because its handler may open a dialog.
   */
  #prepare(delivery: Delivery): Taken {
    const { endpoint, lane, payload } = delivery;
    const isIdle = this.#open.isIdle(lane);
    const unheardIn = isIdle ? this.#ports.unheardIn?.(delivery) : undefined;
    const id = uuidv7(this.#core.clock.now());
    const head = { seq: 0, id, endpoint, lane, kind: payload.kind, bytes: 0, nextAt: null };
    const slot = isIdle && unheardIn === undefined ? this.#ports.reserveLane?.(head) : undefined;
    try {
      const item = prepareItem(this.#core, delivery, { id, passedBy: unheardIn, isClaimed: slot !== undefined });
      head.bytes = item.row.bytes;
      this.#open.add(item.row);
      return { row: item.row, insert: item.insert, events: item.events, slot };
    } catch (error) {
      slot?.abandon();
      throw error;
    }
  }

  /** Undoes the reservation of an item that is not stored. */
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

  /** Stores one item in another transaction (such as that of a due task), after its statements. A function gets the id of the item. */
  async storeWith(delivery: Delivery, joined: Unit | ((id: string) => Unit)): Promise<UnitAnswer> {
    const { row, insert, events } = prepareItem(this.#core, delivery);
    const unit = typeof joined === 'function' ? joined(row.id) : joined;
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

  /** The id of the item that holds this delivery. */
  async idOf(endpoint: string, deliveryId: string): Promise<string | undefined> {
    return (await readDelivery(this.#core.reader, endpoint, deliveryId))?.id;
  }

  /** The batch is already included in the count of open items. */
  #refusal(prepared: readonly Taken[]): SvcError | undefined {
    const [first] = prepared;
    if (first === undefined) return undefined;
    const batch = { items: prepared.length, bytes: prepared.reduce((sum, { row }) => sum + row.bytes, 0) };
    return refusal(
      this.#open,
      { endpoint: first.row.endpoint, batch },
      { bound: this.#bound, endpoints: () => this.#ports.shares?.() ?? 1 },
    );
  }

  /** Stores a delivery that cannot be handled as a dead letter. */
  acceptDead(delivery: Delivery, why: WhyDead): Promise<string | undefined> {
    return storeDead(this.#core, delivery, why);
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

  #known<Item extends PreparedItem>(items: readonly Item[]): Promise<Repeat<Item>[]> {
    return findDuplicates(this.#core, items, (endpoint, conflict) => this.#observer.duplicate?.(endpoint, conflict));
  }
}

/** `slot`: the reserved lane of an item that starts as soon as it is stored. */
interface Taken extends PreparedItem {
  readonly slot: Slot | undefined;
}

interface Refused {
  readonly prepared: readonly Taken[];
  readonly joined: Joined;
  readonly full: SvcError;
}

interface Stored {
  readonly stored: readonly Taken[];
  readonly duplicates: number;
  readonly conflicts: number;
}
