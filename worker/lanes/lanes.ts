// Which stored item runs next, for inbox and outbox. A lane (one conversation) has one item at a time, in order of arrival; lanes run side by side.
//
//   L1  Within a lane order is order of arrival, retries included: an item that waits holds its lane.
//   L2  No lane keeps more than `LANE_WINDOW` items in memory, no endpoint more than `ENDPOINT_LANES` lanes; the rest stay on disk until there is room.
//   L3  Slow or held endpoints use their own shares of the concurrency and never the whole (places.ts); endpoints take turns.
// No I/O here: the lane runner feeds it rows and does what it says.
import { freeShares, type ShareLimits } from './fair-shares.ts';
import { ReadyLanes } from './ready-lanes.ts';

/** What lanes need to know of a stored item. */
export interface LaneItem {
  readonly seq: number;
  readonly id: string;
  readonly endpoint: string;
  readonly lane: string;
  /** Epoch milliseconds of its next attempt, when it waits. */
  readonly nextAt: number | null;
}

export const LANE_WINDOW = 32;
export const ENDPOINT_LANES = 10_000;

export interface Lane<T> {
  readonly key: string;
  readonly endpoint: string;
  queue: T[];
  state: 'idle' | 'running' | 'waiting';
  /** Items of this lane were left on disk: new ones are not taken before a refill. */
  overflow: boolean;
  /** A row came by while a refill was being read, which may not have it. */
  missed: boolean;
  lastSeq: number;
}

/** Read the lane's open items after this position and hand them to `refill`. */
export interface Refill {
  readonly lane: string;
  readonly after: number;
}

export class Lanes<T extends LaneItem> {
  readonly #lanes = new Map<string, Lane<T>>();
  readonly #running = new Map<string, number>();
  readonly #count = new Map<string, number>();
  /** Endpoints of which lanes were left on disk. */
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
  /** True when lanes of this endpoint may be open on disk alone. */
  isFull(endpoint: string): boolean {
    return this.#full.has(endpoint);
  }
  /** True when an endpoint that had more lanes than fit has room again: everything open is to be read anew. */
  get hasRoom(): boolean {
    for (const endpoint of this.#full) if ((this.#count.get(endpoint) ?? 0) <= this.#mostOfEndpoint / 2) return true;
    return false;
  }

  /** Takes the lane for an item that is being stored, as if it ran already. False when anything else comes before it. */
  reserve(item: T, limits: ShareLimits, held: (item: T) => boolean): boolean {
    if (this.#lanes.has(item.lane) || this.#ready.size > 0) return false;
    if (!this.#free(limits)(item.endpoint) || held(item)) return false;
    const lane = this.#open(item);
    if (lane === undefined) return false;
    lane.queue.push(item);
    this.#enter(lane);
    return true;
  }

  /** Adds a row; rows of one lane come in order. `now` decides whether its retry is due. */
  add(item: T, now: number): void {
    const lane = this.#lanes.get(item.lane) ?? this.#open(item);
    if (lane === undefined || item.seq <= lane.lastSeq) return;
    if (lane.queue[0]?.id === item.id) {
      if (!lane.overflow) lane.lastSeq = item.seq; // it was reserved, and has its number now
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

  /** The next item that may start, counted as running; undefined when nothing may. `held` says the same for all items of an endpoint. */
  take(limits: ShareLimits, held: (item: T) => boolean): T | undefined {
    if (this.#runningTotal >= limits.concurrency) return undefined;
    const isFree = this.#free(limits);
    const lane = this.#ready.next((endpoint, head) => isFree(endpoint) && !held(head));
    if (lane === undefined) return undefined;
    this.#enter(lane);
    return lane.queue[0];
  }

  /** What comes after the running item of its lane, as far as it is in memory. */
  after(item: T): T | undefined {
    const lane = this.#lanes.get(item.lane);
    return lane?.state === 'running' && lane.queue[0]?.id === item.id ? lane.queue[1] : undefined;
  }

  /** The running item of the lane left the lane: done, dead or dropped. Returns the lane to refill when its window is empty. */
  finish(item: T, now: number): Refill | undefined {
    const lane = this.#leave(item);
    if (lane === undefined) return undefined;
    lane.queue.shift();
    return this.#settle(lane, now);
  }

  /** The running item waits; its lane waits with it until `release`. */
  hold(item: T): void {
    const lane = this.#leave(item);
    if (lane !== undefined) lane.state = 'waiting';
  }

  /** The item could not be started (no generation, no storage): it stays at the head of its lane. */
  putBack(item: T): void {
    const lane = this.#leave(item);
    if (lane !== undefined) this.#makeReady(lane);
  }

  /** The retry of the lane's first item is due; with `id` only when that is the first. */
  release(laneKey: string, id?: string): void {
    const lane = this.#lanes.get(laneKey);
    if (lane?.state !== 'waiting' || (id !== undefined && lane.queue[0]?.id !== id)) return;
    this.#makeReady(lane);
  }

  /** An item that waited was ended by an operator. */
  remove(laneKey: string, id: string, now: number): Refill | undefined {
    const lane = this.#lanes.get(laneKey);
    const index = lane?.queue.findIndex((item) => item.id === id) ?? -1;
    if (lane === undefined || index < 0 || (index === 0 && lane.state === 'running')) return undefined;
    lane.queue.splice(index, 1);
    if (index > 0) return undefined;
    this.#ready.delete(lane);
    return this.#settle(lane, now);
  }

  /** Forgets everything that is not running: what is on disk is read anew. */
  clear(): void {
    for (const lane of this.#lanes.values()) {
      if (lane.state === 'running')
        Object.assign(lane, { queue: lane.queue.slice(0, 1), overflow: true, missed: true, lastSeq: 0 });
      else this.#close(lane);
    }
    this.#full.clear();
  }

  /** What a refill has read; `more`: there is more of it on disk. Returns the lane when it has to be read once more. */
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
