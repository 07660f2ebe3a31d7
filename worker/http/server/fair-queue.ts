// Who is next: first by class in turn, then by lane in turn, then in the order in which it came. Pure.
//
//   Q1  A lane that waits is passed over by every other lane of its class at most once.
//   Q2  A class that waits is passed over by every other class at most once.
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

/** From the first lane, which becomes the last one. */
function takeFirst<T>(lanes: Map<unknown, T[]>): T | undefined {
  for (const [lane, waiting] of lanes) {
    const item = waiting.shift();
    lanes.delete(lane);
    if (waiting.length > 0) lanes.set(lane, waiting);
    return item;
  }
  return undefined;
}
