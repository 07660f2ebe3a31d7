// Runs stored items lane by lane: reads what is open in order of storing, starts one item a lane, and lets the lane go on when the
// item has left it. Inbox and outbox are two of these.
//
//   X1  Order is read from the disk, never from the order of calls: commit order is order.
//   X2  What a crash left half done is open on disk and comes again at the next start, in its old place.
//   X3  An item that cannot be run because the storage fails stays at the head of its lane and is tried again.
import { within } from '../../shared/abort.ts';
import { messageOf } from '../../shared/svc-error.ts';
import type { Core } from '../core.ts';
import { Lanes, LANE_WINDOW, type LaneItem, type LaneLimits } from './lanes.ts';

/** `left`: the item is over; `waiting`: its lane waits until `release`; `again`: it may start again at once. */
export type LaneOutcome = 'left' | 'waiting' | 'again';

export interface LaneRunnerOptions<T extends LaneItem> {
  readonly name: string;
  readonly core: Core;
  readonly limits: () => LaneLimits;
  /** Open items after a position, in order. */
  readonly readOpen: (after: number, limit: number) => Promise<T[]>;
  readonly readLane: (lane: string, after: number, limit: number) => Promise<T[]>;
  /** True while the item must not start; checked each time before it does. */
  readonly held: (item: T) => boolean;
  /** What the item led to is on disk when it resolves. */
  readonly run: (item: T) => Promise<LaneOutcome>;
}

const PAGE = 500;
/** Lanes in memory that could start; the rest stays on disk. Generous, since those of an endpoint that is down count too. */
const MOST_READY = 20_000;
const STORAGE_RETRY_MS = 1_000;

export class LaneRunner<T extends LaneItem> {
  readonly #options: LaneRunnerOptions<T>;
  readonly #lanes = new Lanes<T>();
  readonly #running = new Set<Promise<void>>();
  #loadedTo = 0;
  #more = true;
  #loading: Promise<void> | undefined;
  #again = false;
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

  /** The next attempt of the lane's first item is due. */
  release(lane: string): void {
    this.#lanes.release(lane);
    this.#turn();
  }

  /** Somebody else ended an item. */
  dropped(lane: string, id: string): void {
    const refill = this.#lanes.remove(lane, id, this.#options.core.clock.now());
    if (refill !== undefined) void this.#refill(refill); // handles its own errors
    this.#turn();
  }

  /** Somebody put an item back in line: what is open is read anew. */
  reread(): void {
    this.#lanes.clear();
    this.#loadedTo = 0;
    this.wake();
  }

  get running(): number {
    return this.#lanes.running;
  }

  /** Starts nothing more; resolves when what runs has ended, or after `limitMs`, with how many did not end. */
  async stop(limitMs: number): Promise<number> {
    this.#stopped = true;
    await within(Promise.allSettled([...this.#running]), limitMs, undefined, this.#options.core.clock);
    return this.#running.size;
  }

  /** Resolves when nothing runs and nothing is being read: for tests that own the clock. */
  async settled(): Promise<void> {
    while (this.#running.size > 0 || this.#loading !== undefined) await Promise.race([...this.#running, this.#loading ?? Promise.race(this.#running)]);
  }

  #turn(): void {
    if (this.#stopped) return;
    this.#load();
    for (;;) {
      const item = this.#lanes.take(this.#options.limits(), this.#options.held);
      if (item === undefined) return;
      const run = this.#run(item).finally(() => {
        this.#running.delete(run);
        this.#turn();
      });
      this.#running.add(run);
    }
  }

  /** Reads the next page while few lanes are ready. One read at a time; one turn of the event loop gathers what arrives together. */
  #load(): void {
    if (this.#loading !== undefined) {
      this.#again = true;
      return;
    }
    if (!this.#more || this.#lanes.ready > MOST_READY) return;
    this.#loading = new Promise((resolve) => setImmediate(resolve))
      .then(() => this.#readPage())
      .finally(() => {
        this.#loading = undefined;
        if (this.#again) this.#more = true;
        this.#again = false;
        this.#turn();
      });
  }

  async #readPage(): Promise<void> {
    const { core, name, readOpen } = this.#options;
    this.#again = false;
    try {
      const rows = await readOpen(this.#loadedTo, PAGE);
      this.#more = rows.length === PAGE;
      const now = core.clock.now();
      for (const row of rows) this.#lanes.add(row, now);
      this.#loadedTo = rows.at(-1)?.seq ?? this.#loadedTo;
    } catch (error) {
      this.#more = false;
      core.log.warn({ error: messageOf(error) }, `${name} could not be read`);
      core.clock.after(STORAGE_RETRY_MS, () => this.wake());
    }
  }

  async #refill({ lane, after }: { readonly lane: string; readonly after: number }): Promise<void> {
    const { core, readLane } = this.#options;
    try {
      const rows = await readLane(lane, after, LANE_WINDOW + 1);
      const now = core.clock.now();
      for (const row of rows) this.#lanes.add(row, now);
      this.#lanes.refilled(lane);
    } catch {
      core.clock.after(STORAGE_RETRY_MS, () => void this.#refill({ lane, after }));
    }
  }

  async #run(item: T): Promise<void> {
    const { core, name, run } = this.#options;
    try {
      switch (await run(item)) {
        case 'left': {
          const refill = this.#lanes.finish(item, core.clock.now());
          if (refill !== undefined) await this.#refill(refill);
          return;
        }
        case 'waiting':
          return this.#lanes.hold(item);
        case 'again':
          return this.#lanes.putBack(item);
      }
    } catch (error) {
      core.log.error({ item: item.id, error: messageOf(error) }, `${name} item could not be run`);
      this.#lanes.hold(item);
      core.clock.after(STORAGE_RETRY_MS, () => this.release(item.lane));
    }
  }
}
