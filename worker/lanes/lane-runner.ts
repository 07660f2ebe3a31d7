// Runs stored items lane by lane: reads what is open in order of storing, starts one item a lane, and lets the lane go on when the
// item has left it. Inbox and outbox are two of these.
//
//   X1  Order is read from the disk, never from the order of calls: commit order is order.
//   X2  What a crash left half done is open on disk and comes again at the next start, in its old place.
//       What is stored claimed has its lane for itself from before its commit: nothing of that lane is open on disk. It starts unread.
//   X3  An item that cannot be run because the storage fails stays at the head of its lane and is tried again.

import { afterConnections } from '../../shared/process/connections-first.ts';
import { madeProgress } from '../../shared/process/loop-progress.ts';
import { messageOf } from '../../shared/svc-error.ts';
import { within } from '../../shared/time/abort.ts';
import type { Core } from '../core/core.ts';
import type { ShareLimits } from './fair-shares.ts';
import { LANE_WINDOW, type LaneItem, Lanes, type Refill } from './lanes.ts';
import { UnloadedLanes } from './unloaded-lanes.ts';

/** `left`: the item is over; `waiting`: its lane waits until `release`; `again`: it may start again at once. */
export type LaneOutcome = 'left' | 'waiting' | 'again';

/** The lane of an item that is being stored. */
export interface Slot {
  /** It is stored: it runs. */
  begin(): void;
  /** It is not: the lane is free. */
  abandon(): void;
}

export interface LaneRunnerOptions<T extends LaneItem> {
  readonly name: string;
  readonly core: Core;
  readonly limits: () => ShareLimits;
  /** Open items after a position, in order. */
  readonly readOpen: (after: number, limit: number) => Promise<T[]>;
  readonly readLane: (lane: string, after: number, limit: number) => Promise<T[]>;
  /** True while items of its endpoint must not start; checked each time before one does. */
  readonly held: (item: T) => boolean;
  /** What the item led to is on disk when it resolves. `next` names what starts after it: claiming that one may join the unit that ends it. */
  readonly run: (item: T, next: () => T | undefined) => Promise<LaneOutcome>;
}

const PAGE = 500;
const STORAGE_RETRY_MS = 1_000;

export class LaneRunner<T extends LaneItem> {
  readonly #options: LaneRunnerOptions<T>;
  readonly #lanes = new Lanes<T>();
  readonly #running = new Set<Promise<void>>();
  #loadedTo = 0;
  /** Rises when what was read is forgotten: a page that was asked for before is not added after. */
  #reading = 0;
  /** There may be what no read has seen. */
  #more = true;
  #hasRead = false;
  /** What was open when the last read began is in memory, but for lanes that have no room there. */
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

  /** Something may be ready. Cheap; may be called often. */
  wake(): void {
    this.#more = true;
    this.#turn();
  }

  /** The next attempt of the lane's first item is due; with `id` only when that is the first. */
  release(lane: string, id?: string): void {
    this.#lanes.release(lane, id);
    this.#turn();
  }

  /** Somebody else ended an item. */
  dropped(lane: string, id: string): void {
    const refill = this.#lanes.remove(lane, id, this.#options.core.clock.now());
    if (refill !== undefined) void this.#refill(refill).then(() => this.#turn()); // handles its own errors
    this.#turn();
  }

  /** Somebody put an item back in line: what is open is read anew. */
  reread(): void {
    this.#lanes.clear();
    this.#isWhole = false;
    this.#loadedTo = 0;
    this.#reading += 1;
    this.wake();
  }

  /** A start at once for an item of an idle lane that is about to be stored as claimed; undefined when it has to wait for its turn. */
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
   * An item that is about to be stored: once it is there it starts at once, when it `mayStart` and nothing of its lane comes before it, else
   * in its turn. Every item is announced so, or its lane is known to be idle by other means (`reserve`).
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

  /** True when nothing of this lane is in memory. What is left on disk is not looked at. */
  isFree(lane: string): boolean {
    return this.#hasRead && !this.#stopped && !this.#lanes.has(lane);
  }

  get running(): number {
    return this.#lanes.running;
  }

  /** Goes on with what may start until nothing is left, at most `limitMs`. */
  async finish(limitMs: number): Promise<void> {
    await within(this.settled(), { ms: limitMs, late: undefined, clock: this.#options.core.clock });
  }

  /** Starts nothing more. */
  rest(): void {
    this.#stopped = true;
  }

  /** Starts nothing more; resolves when what runs has ended, or after `limitMs`, with how many did not end. */
  async stop(limitMs: number): Promise<number> {
    this.rest();
    await within(Promise.allSettled(this.#running), { ms: limitMs, late: undefined, clock: this.#options.core.clock });
    return this.#running.size;
  }

  /** Resolves when nothing runs and nothing is being read: for tests that own the clock. */
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

  /** Reads the next page. One read at a time; one turn of the event loop gathers what arrives together. */
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
    this.#more = false; // whoever wakes from here on may mean what this read no longer sees
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

  /** Until the lane has items or none are left. A failure is tried again; the lane stays as it is meanwhile. */
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
