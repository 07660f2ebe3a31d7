// A fair queue: round robin over classes, then over the lanes of a class, then first in, first out. Pure.
//
//   FAIRQUEUE-1  Every other lane of its class overtakes a waiting lane at most once.
//   FAIRQUEUE-2  Every other class overtakes a waiting class at most once.
export class FairQueue<C extends string, T> {
  readonly #classes: readonly { readonly name: C; readonly lanes: Map<unknown, T[]> }[];
  #next = 0;
  #size = 0;

  constructor(classes: readonly C[]) {
    this.#classes = classes.map((name) => ({ name, lanes: new Map() }));
  }

  get size(): number {
    return this.#size;
  }

  add(item: T, { of, lane }: { readonly of: C; readonly lane: unknown }): void {
    const lanes = this.#classes.find(({ name }) => name === of)?.lanes;
    const waiting = lanes?.get(lane);
    if (waiting === undefined) lanes?.set(lane, [item]);
    else waiting.push(item);
    this.#size += 1;
  }

  take(): T | undefined {
    for (let tried = 0; tried < this.#classes.length; tried += 1) {
      const lanes = this.#classes[this.#next]?.lanes ?? new Map<unknown, T[]>();
      this.#next = (this.#next + 1) % this.#classes.length;
      const item = takeFirst(lanes);
      if (item === undefined) continue;
      this.#size -= 1;
      return item;
    }
    return undefined;
  }
}

/** Takes from the first lane, which moves to the end. */
function takeFirst<T>(lanes: Map<unknown, T[]>): T | undefined {
  for (const [lane, waiting] of lanes) {
    const item = waiting.shift();
    lanes.delete(lane);
    if (waiting.length > 0) lanes.set(lane, waiting);
    return item;
  }
  return undefined;
}
