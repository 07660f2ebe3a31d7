// Runs stored items lane by lane: reads open items in order of storing and runs one item a lane at a time. Inbox and outbox each have one runner.
//
//   LANE-RUNNER-1  Commit order is run order. The order is read from the disk, never taken from the order of calls.
//   LANE-RUNNER-2  An item that a crash interrupted is still open on disk. It runs again after the next start, in its old position.
//   LANE-RUNNER-3  An item that is stored as claimed owns its lane from before its commit. Nothing else of that lane is open on disk, so the item
//                  starts without a read.
//   LANE-RUNNER-4  An item that cannot run because the storage fails stays at the head of its lane and is retried.

import { afterConnections } from '../../shared/process/connections-first.ts';
import { madeProgress } from '../../shared/process/loop-progress.ts';
import { messageOf } from '../../shared/svc-error.ts';
import { within } from '../../shared/time/abort.ts';
import type { Core } from '../core/core.ts';
import type { ShareLimits } from './fair-shares.ts';
import { LANE_WINDOW, type LaneItem, Lanes, type Refill } from './lanes.ts';
import { UnloadedLanes } from './unloaded-lanes.ts';

/** `left`: the item has ended. `waiting`: its lane waits until `release`. `again`: the item may start again at once. */
export type LaneOutcome = 'left' | 'waiting' | 'again';

/** The reserved lane of an item that is being stored. */
export interface Slot {
  /** The item is stored and starts. */
  begin(): void;
  /** The item is not stored. Its lane is free again. */
  abandon(): void;
}

export interface LaneRunnerOptions<T extends LaneItem> {
  readonly name: string;
  readonly core: Core;
  readonly limits: () => ShareLimits;
  /** Open items with `seq` above `after`, in order. */
  readonly readOpen: (after: number, limit: number) => Promise<T[]>;
  readonly readLane: (lane: string, after: number, limit: number) => Promise<T[]>;
  /** True while items of this endpoint must not start. Checked before each start. */
  readonly held: (item: T) => boolean;
  /**
   * The outcome of the item is on disk when the promise resolves. `next` names the item behind it, whose claim may join the transaction that ends
   * this item.
   */
  readonly run: (item: T, next: () => T | undefined) => Promise<LaneOutcome>;
}

const PAGE = 500;
const STORAGE_RETRY_MS = 1_000;

export class LaneRunner<T extends LaneItem> {
  readonly #options: LaneRunnerOptions<T>;
  readonly #lanes = new Lanes<T>();
  readonly #running = new Set<Promise<void>>();
  #loadedTo = 0;
  /** Incremented when the lanes in memory are dropped. A page that was requested before is then discarded. */
  #reading = 0;
  /** True if the disk may hold items that no read has seen. */
  #more = true;
  #hasRead = false;
  /** True if all open items that the last read could see are in memory, except lanes without room there. */
  #isWhole = false;
  readonly #unread = new UnloadedLanes();
  #loading: Promise<void> | undefined;
  #stopped = true;

  constructor(options: LaneRunnerOptions<T>) {
    this.#options = options;
  }

  start(): void {
    this.#stopped = false;
    this.wake();
  }

  /** Something may be ready to start. Cheap, so it may be called often. */
  wake(): void {
    this.#more = true;
    this.#turn();
  }

  /** The retry of the lane's first item is due. With `id`, only if that item is the first. */
  release(lane: string, id?: string): void {
    this.#lanes.release(lane, id);
    this.#turn();
  }

  /** An operator ended this item. */
  dropped(lane: string, id: string): void {
    const refill = this.#lanes.remove(lane, id, this.#options.core.clock.now());
    if (refill !== undefined) void this.#refill(refill).then(() => this.#turn()); // reports its own errors
    this.#turn();
  }

  /** An operator put an item back in line, so all open items are read again. */
  reread(): void {
    this.#lanes.clear();
    this.#isWhole = false;
    this.#loadedTo = 0;
    this.#reading += 1;
    this.wake();
  }

  /** Reserves an idle lane for an item that is about to be stored as claimed. Undefined if the item has to wait for its turn. */
  reserve(item: T): Slot | undefined {
    const { limits, held } = this.#options;
    if (this.#stopped || !this.#hasRead || !this.#lanes.reserve(item, limits(), held)) return undefined;
    let settle: (isStored: boolean) => void = () => {};
    const stored = new Promise<boolean>((resolve) => {
      settle = resolve;
    });
    this.#track(stored.then((isStored) => (isStored ? this.#run(item) : this.#leave(item))));
    return { begin: () => settle(true), abandon: () => settle(false) };
  }

  /**
   * Announces an item that is about to be stored. The item starts once it is stored if it `mayStart` and nothing of its lane comes before it;
   * otherwise in its turn. Every stored item must be announced here, unless `reserve` has taken its lane.
   */
  storing(item: T, mayStart: boolean): Slot {
    const { lane, endpoint } = item;
    const isFirst = this.#isWhole && !this.#unread.has(lane) && !this.#lanes.isFull(endpoint);
    const slot = mayStart && isFirst ? this.reserve(item) : undefined;
    if (slot !== undefined) return slot;
    this.#unread.add(lane);
    return {
      begin: () => {
        this.#unread.stored(lane);
        this.wake();
      },
      abandon: () => this.#unread.remove(lane),
    };
  }

  /** True if nothing of this lane is in memory. Items on disk are not considered. */
  isFree(lane: string): boolean {
    return this.#hasRead && !this.#stopped && !this.#lanes.has(lane);
  }

  get running(): number {
    return this.#lanes.running;
  }

  /** Keeps starting items until none is left, for at most `limitMs`. */
  async finish(limitMs: number): Promise<void> {
    await within(this.settled(), { ms: limitMs, late: undefined, clock: this.#options.core.clock });
  }

  /** Starts no more items. */
  rest(): void {
    this.#stopped = true;
  }

  /** Starts no more items. Resolves when the running items have ended, or after `limitMs`, with the number that did not end. */
  async stop(limitMs: number): Promise<number> {
    this.rest();
    await within(Promise.allSettled(this.#running), { ms: limitMs, late: undefined, clock: this.#options.core.clock });
    return this.#running.size;
  }

  /** Resolves when nothing runs and no read is under way. For tests that control the clock. */
  async settled(): Promise<void> {
    while (this.#running.size > 0 || this.#loading !== undefined)
      await Promise.race([...this.#running, this.#loading ?? Promise.race(this.#running)]);
  }

  #turn(): void {
    if (this.#stopped) return;
    if (this.#lanes.hasRoom) return this.reread();
    this.#load();
    for (;;) {
      const item = this.#lanes.take(this.#options.limits(), this.#options.held);
      if (item === undefined) return;
      this.#track(this.#run(item));
    }
  }

  #track(run: Promise<void>): void {
    const tracked = run.finally(() => {
      this.#running.delete(tracked);
      this.#turn();
    });
    this.#running.add(tracked);
  }

  #next(item: T): T | undefined {
    if (this.#stopped) return undefined;
    const next = this.#lanes.after(item);
    return next === undefined || next.nextAt !== null || this.#options.held(next) ? undefined : next;
  }

  async #leave(item: T): Promise<void> {
    const refill = this.#lanes.finish(item, this.#options.core.clock.now());
    if (refill !== undefined) await this.#refill(refill);
  }

  /** Reads the next page. One read runs at a time and starts one event-loop turn later, so items that arrive together share it. */
  #load(): void {
    if (this.#loading !== undefined || !this.#more) return;
    this.#loading = new Promise((resolve) => setImmediate(resolve))
      .then(() => this.#readPage())
      .finally(() => {
        this.#loading = undefined;
        this.#turn();
      });
  }

  async #readPage(): Promise<void> {
    const { core, name, readOpen } = this.#options;
    this.#more = false; // a wake from here on may mean items that this read does not see
    const reading = this.#reading;
    const read = this.#unread.reading();
    let isWhole = false;
    try {
      const rows = await readOpen(this.#loadedTo, PAGE);
      if (reading !== this.#reading) return;
      if (rows.length === PAGE) this.#more = true;
      isWhole = rows.length < PAGE;
      this.#isWhole = isWhole;
      this.#hasRead = true;
      const now = core.clock.now();
      for (const row of rows) this.#lanes.add(row, now);
      this.#loadedTo = rows.at(-1)?.seq ?? this.#loadedTo;
    } catch (error) {
      this.#more = false;
      core.log.warn({ error: messageOf(error) }, `${name} could not be read`);
      core.clock.after(STORAGE_RETRY_MS, () => this.wake());
    } finally {
      read(isWhole);
    }
  }

  /** Reads until the lane has items or none are left. A failed read is retried; the lane does not change meanwhile. */
  async #refill(refill: Refill): Promise<void> {
    const { core, readLane } = this.#options;
    let open: Refill | undefined = refill;
    try {
      while (open !== undefined) {
        const rows = await readLane(open.lane, open.after, LANE_WINDOW + 1);
        open = this.#lanes.refill(open.lane, { rows, more: rows.length > LANE_WINDOW, now: core.clock.now() });
      }
    } catch (error) {
      core.log.warn({ error: messageOf(error) }, `${this.#options.name} lane could not be read`);
      core.clock.after(STORAGE_RETRY_MS, () => void this.#refill(refill).then(() => this.#turn()));
    }
  }

  async #run(item: T): Promise<void> {
    const { core, name, run } = this.#options;
    try {
      madeProgress(performance.now());
      const turn = afterConnections();
      if (turn !== undefined) await turn;
      switch (await run(item, () => this.#next(item))) {
        case 'left':
          return await this.#leave(item);
        case 'waiting':
          return this.#lanes.hold(item);
        case 'again':
          return this.#lanes.putBack(item);
      }
    } catch (error) {
      core.log.error({ item: item.id, err: error }, `${name} item could not be run`);
      this.#lanes.hold(item);
      core.clock.after(STORAGE_RETRY_MS, () => this.release(item.lane));
    }
  }
}
