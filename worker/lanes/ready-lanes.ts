// Lanes that may start, grouped by endpoint. Endpoints take turns; lanes of one endpoint keep the order in which they became ready. The cost does not
// grow with the number of lanes of an endpoint that is down.
import type { Lane } from './lanes.ts';

export class ReadyLanes<T> {
  readonly #byEndpoint = new Map<string, Set<Lane<T>>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  add(lane: Lane<T>): void {
    let lanes = this.#byEndpoint.get(lane.endpoint);
    if (lanes === undefined) {
      lanes = new Set();
      this.#byEndpoint.set(lane.endpoint, lanes);
    }
    if (lanes.has(lane)) return;
    lanes.add(lane);
    this.#size += 1;
  }

  delete(lane: Lane<T>): void {
    const lanes = this.#byEndpoint.get(lane.endpoint);
    if (lanes?.delete(lane) !== true) return;
    this.#size -= 1;
    if (lanes.size === 0) this.#byEndpoint.delete(lane.endpoint);
  }

  /** Takes the first lane of the first endpoint that may start. That endpoint is asked last the next time. */
  next(mayStart: (endpoint: string, head: T) => boolean): Lane<T> | undefined {
    for (const [endpoint, lanes] of this.#byEndpoint) {
      const [lane] = lanes;
      const head = lane?.queue[0];
      if (lane === undefined || head === undefined || !mayStart(endpoint, head)) continue;
      this.delete(lane);
      if (this.#byEndpoint.delete(endpoint)) this.#byEndpoint.set(endpoint, lanes);
      return lane;
    }
    return undefined;
  }
}
