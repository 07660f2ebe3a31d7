// Decides which stored item runs next. A lane (one conversation) runs one item at a time, in order of arrival. Different lanes run concurrently.
//
//   LANES-1  Order within a lane is order of arrival, retries included: a waiting item holds its lane.
//   LANES-2  A lane keeps at most `LANE_WINDOW` items in memory, an endpoint at most `ENDPOINT_LANES` lanes. The rest stays on disk until there is
//            room.
//   LANES-3  A slow or held endpoint uses its own share of the concurrency, never all of it. Endpoints take turns.
//
// No I/O here: the lane runner supplies the rows and carries out the results.
import { freeShares, type ShareLimits } from './fair-shares.ts';
import { ReadyLanes } from './ready-lanes.ts';

/** The fields of a stored item that lanes need. */
export interface LaneItem {
  readonly seq: number;
  readonly id: string;
  readonly endpoint: string;
  readonly lane: string;
  /** Time of the next attempt in epoch milliseconds; null if the item does not wait. */
  readonly nextAt: number | null;
}

export const LANE_WINDOW = 32;
export const ENDPOINT_LANES = 10_000;

export interface Lane<T> {
  readonly key: string;
  readonly endpoint: string;
  queue: T[];
  state: 'idle' | 'running' | 'waiting';
  /** Items of this lane were left on disk, so new rows are not taken before a refill. */
  overflow: boolean;
  /** A row arrived during a refill, which may not include it. */
  missed: boolean;
  lastSeq: number;
}

/** A request to read the lane's open items after `after` and to pass them to `refill`. */
export interface Refill {
  readonly lane: string;
  readonly after: number;
}

export class Lanes<T extends LaneItem> {
  readonly #lanes = new Map<string, Lane<T>>();
  readonly #running = new Map<string, number>();
  readonly #count = new Map<string, number>();
  /** Endpoints with lanes that were left on disk. */
  readonly #full = new Set<string>();
  readonly #ready = new ReadyLanes<T>();
  readonly #mostOfEndpoint: number;
  #runningTotal = 0;

  constructor(mostOfEndpoint = ENDPOINT_LANES) {
    this.#mostOfEndpoint = mostOfEndpoint;
  }

  get running(): number {
    return this.#runningTotal;
  }
  get ready(): number {
    return this.#ready.size;
  }
  has(lane: string): boolean {
    return this.#lanes.has(lane);
  }
  get lanes(): number {
    return this.#lanes.size;
  }
  /** True if lanes of this endpoint may be open on disk alone. */
  isFull(endpoint: string): boolean {
    return this.#full.has(endpoint);
  }
  /** True if an endpoint that exceeded its lanes has room again. All open items must then be read again. */
  get hasRoom(): boolean {
    for (const endpoint of this.#full) if ((this.#count.get(endpoint) ?? 0) <= this.#mostOfEndpoint / 2) return true;
    return false;
  }

  /** Takes the lane for an item that is being stored, as if it already ran. False if anything must run before it. */
  reserve(item: T, limits: ShareLimits, held: (item: T) => boolean): boolean {
    if (this.#lanes.has(item.lane) || this.#ready.size > 0) return false;
    if (!this.#free(limits)(item.endpoint) || held(item)) return false;
    const lane = this.#open(item);
    if (lane === undefined) return false;
    lane.queue.push(item);
    this.#enter(lane);
    return true;
  }

  /** Adds a row. Rows of one lane must come in order. `now` decides whether a retry is due. */
  add(item: T, now: number): void {
    const lane = this.#lanes.get(item.lane) ?? this.#open(item);
    if (lane === undefined || item.seq <= lane.lastSeq) return;
    if (lane.queue[0]?.id === item.id) {
      if (!lane.overflow) lane.lastSeq = item.seq; // a reserved item learns its number here
      return;
    }
    if (lane.overflow || lane.queue.length >= LANE_WINDOW) {
      lane.overflow = true;
      lane.missed = true;
      return;
    }
    lane.queue.push(item);
    lane.lastSeq = item.seq;
    if (lane.queue.length === 1 && lane.state === 'idle') this.#settle(lane, now);
  }

  /** The next item that may start, counted as running; undefined if none may. `held` must answer the same for all items of an endpoint. */
  take(limits: ShareLimits, held: (item: T) => boolean): T | undefined {
    if (this.#runningTotal >= limits.concurrency) return undefined;
    const isFree = this.#free(limits);
    const lane = this.#ready.next((endpoint, head) => isFree(endpoint) && !held(head));
    if (lane === undefined) return undefined;
    this.#enter(lane);
    return lane.queue[0];
  }

  /** The item behind the running item of its lane, if it is in memory. */
  after(item: T): T | undefined {
    const lane = this.#lanes.get(item.lane);
    return lane?.state === 'running' && lane.queue[0]?.id === item.id ? lane.queue[1] : undefined;
  }

  /** The running item has left its lane: done, dead or dropped. Returns the lane to refill if its window is empty. */
  finish(item: T, now: number): Refill | undefined {
    const lane = this.#leave(item);
    if (lane === undefined) return undefined;
    lane.queue.shift();
    return this.#settle(lane, now);
  }

  /** The running item waits, and its lane with it until `release`. */
  hold(item: T): void {
    const lane = this.#leave(item);
    if (lane !== undefined) lane.state = 'waiting';
  }

  /** The item could not start (no generation, no storage) and stays at the head of its lane. */
  putBack(item: T): void {
    const lane = this.#leave(item);
    if (lane !== undefined) this.#makeReady(lane);
  }

  /** The retry of the lane's first item is due. With `id`, only if that item is the first. */
  release(laneKey: string, id?: string): void {
    const lane = this.#lanes.get(laneKey);
    if (lane?.state !== 'waiting' || (id !== undefined && lane.queue[0]?.id !== id)) return;
    this.#makeReady(lane);
  }

  /** An operator ended an item that was not running. */
  remove(laneKey: string, id: string, now: number): Refill | undefined {
    const lane = this.#lanes.get(laneKey);
    const index = lane?.queue.findIndex((item) => item.id === id) ?? -1;
    if (lane === undefined || index < 0 || (index === 0 && lane.state === 'running')) return undefined;
    lane.queue.splice(index, 1);
    if (index > 0) return undefined;
    this.#ready.delete(lane);
    return this.#settle(lane, now);
  }

  /** Drops everything that is not running. Open items are then read from disk again. */
  clear(): void {
    for (const lane of this.#lanes.values()) {
      if (lane.state === 'running')
        Object.assign(lane, { queue: lane.queue.slice(0, 1), overflow: true, missed: true, lastSeq: 0 });
      else this.#close(lane);
    }
    this.#full.clear();
  }

  /** Takes the rows that a refill has read. `more`: further rows are on disk. Returns the lane if it must be read once more. */
  refill(
    laneKey: string,
    { rows, more, now }: { readonly rows: readonly T[]; readonly more: boolean; readonly now: number },
  ): Refill | undefined {
    const lane = this.#lanes.get(laneKey);
    if (lane === undefined || !lane.overflow || lane.state !== 'idle' || lane.queue.length > 0) return undefined;
    const fresh = rows.filter((row) => row.seq > lane.lastSeq).slice(0, LANE_WINDOW);
    lane.overflow = more || lane.missed || rows.length > LANE_WINDOW;
    lane.queue = fresh;
    lane.lastSeq = fresh.at(-1)?.seq ?? lane.lastSeq;
    return this.#settle(lane, now);
  }

  #free(limits: ShareLimits): (endpoint: string) => boolean {
    return freeShares({ total: this.#runningTotal, byEndpoint: this.#running }, limits);
  }

  #settle(lane: Lane<T>, now: number): Refill | undefined {
    const head = lane.queue[0];
    if (head !== undefined) {
      if (head.nextAt !== null && head.nextAt > now) lane.state = 'waiting';
      else this.#makeReady(lane);
      return undefined;
    }
    lane.state = 'idle';
    lane.missed = false;
    if (lane.overflow) return { lane: lane.key, after: lane.lastSeq };
    this.#close(lane);
    return undefined;
  }

  #makeReady(lane: Lane<T>): void {
    lane.state = 'idle';
    this.#ready.add(lane);
  }

  #enter(lane: Lane<T>): void {
    lane.state = 'running';
    this.#running.set(lane.endpoint, (this.#running.get(lane.endpoint) ?? 0) + 1);
    this.#runningTotal += 1;
  }

  #leave(item: T): Lane<T> | undefined {
    const lane = this.#lanes.get(item.lane);
    if (lane?.state !== 'running' || lane.queue[0]?.id !== item.id) return undefined;
    const busy = (this.#running.get(lane.endpoint) ?? 1) - 1;
    if (busy === 0) this.#running.delete(lane.endpoint);
    else this.#running.set(lane.endpoint, busy);
    this.#runningTotal -= 1;
    lane.state = 'idle';
    return lane;
  }

  #open({ lane: key, endpoint }: T): Lane<T> | undefined {
    const count = this.#count.get(endpoint) ?? 0;
    if (count >= this.#mostOfEndpoint) {
      this.#full.add(endpoint);
      return undefined;
    }
    this.#count.set(endpoint, count + 1);
    const lane: Lane<T> = { key, endpoint, queue: [], state: 'idle', overflow: false, missed: false, lastSeq: 0 };
    this.#lanes.set(key, lane);
    return lane;
  }

  #close(lane: Lane<T>): void {
    this.#ready.delete(lane);
    this.#lanes.delete(lane.key);
    const count = (this.#count.get(lane.endpoint) ?? 1) - 1;
    if (count === 0) this.#count.delete(lane.endpoint);
    else this.#count.set(lane.endpoint, count);
  }
}
