// Which stored item runs next, for inbox and outbox. A lane (one conversation) has one item at a time, in order of arrival; lanes run side by side.
//
//   L1  Within a lane order is order of arrival, retries included: an item that waits holds its lane.
//   L2  No lane keeps more than `LANE_WINDOW` items in memory; the rest stay on disk until the lane has room.
//   L3  A slow endpoint uses its own share of the concurrency and never the whole.
// No I/O here: the lane runner feeds it rows and does what it says.

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

interface Lane<T> {
  readonly key: string;
  readonly endpoint: string;
  queue: T[];
  state: 'idle' | 'running' | 'waiting';
  /** Items of this lane that were left on disk. */
  overflow: boolean;
  lastSeq: number;
}

export interface LaneLimits {
  readonly concurrency: number;
  readonly endpointConcurrency: number;
}

export class Lanes<T extends LaneItem> {
  readonly #lanes = new Map<string, Lane<T>>();
  readonly #running = new Map<string, number>();
  /** Lanes that may start, in the order in which they became ready. */
  readonly #ready = new Set<Lane<T>>();
  #runningTotal = 0;

  get running(): number {
    return this.#runningTotal;
  }
  get ready(): number {
    return this.#ready.size;
  }
  get lanes(): number {
    return this.#lanes.size;
  }

  /** Adds a row; rows of one lane come in order. `now` decides whether its retry is due. */
  add(item: T, now: number): void {
    const lane = this.#lane(item);
    if (item.seq <= lane.lastSeq) return;
    if (lane.overflow || lane.queue.length >= LANE_WINDOW) {
      lane.overflow = true;
      return;
    }
    lane.queue.push(item);
    lane.lastSeq = item.seq;
    if (lane.queue.length === 1 && lane.state === 'idle') this.#settle(lane, now);
  }

  /** The next item that may start, counted as running; undefined when nothing may. `held` lanes are passed over. */
  take(limits: LaneLimits, held: (item: T) => boolean): T | undefined {
    if (this.#runningTotal >= limits.concurrency) return undefined;
    for (const lane of this.#ready) {
      const head = lane.queue[0];
      if (head === undefined || held(head)) continue;
      const busy = this.#running.get(lane.endpoint) ?? 0;
      if (busy >= limits.endpointConcurrency) continue;
      this.#ready.delete(lane);
      lane.state = 'running';
      this.#running.set(lane.endpoint, busy + 1);
      this.#runningTotal += 1;
      return head;
    }
    return undefined;
  }

  /** The running item of the lane left the lane: done, dead or dropped. Returns the lane to refill when its window is empty. */
  finish(item: T, now: number): { readonly lane: string; readonly after: number } | undefined {
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
    if (lane === undefined) return;
    lane.state = 'idle';
    this.#ready.add(lane);
  }

  /** The retry of the lane's first item is due. */
  release(laneKey: string): void {
    const lane = this.#lanes.get(laneKey);
    if (lane?.state !== 'waiting') return;
    lane.state = 'idle';
    this.#ready.add(lane);
  }

  /** An item that waited was ended by an operator. */
  remove(laneKey: string, id: string, now: number): { readonly lane: string; readonly after: number } | undefined {
    const lane = this.#lanes.get(laneKey);
    const index = lane?.queue.findIndex((item) => item.id === id) ?? -1;
    if (lane === undefined || index < 0 || (index === 0 && lane.state === 'running')) return undefined;
    lane.queue.splice(index, 1);
    if (index > 0) return undefined;
    lane.state = 'idle';
    this.#ready.delete(lane);
    return this.#settle(lane, now);
  }

  /** Forgets everything that is not running: what is on disk is read anew. */
  clear(): void {
    for (const [key, lane] of this.#lanes) {
      if (lane.state === 'running') Object.assign(lane, { queue: lane.queue.slice(0, 1), overflow: true, lastSeq: 0 });
      else this.#lanes.delete(key);
    }
    this.#ready.clear();
  }

  /** Called after a refill that found nothing more on disk. */
  refilled(laneKey: string): void {
    const lane = this.#lanes.get(laneKey);
    if (lane === undefined || lane.state === 'running' || lane.queue.length > 0) return;
    this.#lanes.delete(laneKey);
  }

  #settle(lane: Lane<T>, now: number): { readonly lane: string; readonly after: number } | undefined {
    const head = lane.queue[0];
    if (head !== undefined) {
      lane.state = head.nextAt !== null && head.nextAt > now ? 'waiting' : 'idle';
      if (lane.state === 'idle') this.#ready.add(lane);
      return undefined;
    }
    lane.state = 'idle';
    if (!lane.overflow) {
      this.#lanes.delete(lane.key);
      return undefined;
    }
    lane.overflow = false;
    return { lane: lane.key, after: lane.lastSeq };
  }

  #leave(item: T): Lane<T> | undefined {
    const lane = this.#lanes.get(item.lane);
    if (lane?.state !== 'running' || lane.queue[0]?.id !== item.id) return undefined;
    const busy = (this.#running.get(lane.endpoint) ?? 1) - 1;
    if (busy === 0) this.#running.delete(lane.endpoint);
    else this.#running.set(lane.endpoint, busy);
    this.#runningTotal -= 1;
    return lane;
  }

  #lane(item: T): Lane<T> {
    let lane = this.#lanes.get(item.lane);
    if (lane === undefined) {
      lane = { key: item.lane, endpoint: item.endpoint, queue: [], state: 'idle', overflow: false, lastSeq: 0 };
      this.#lanes.set(item.lane, lane);
    }
    return lane;
  }
}
