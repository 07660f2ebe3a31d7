// How many calls an endpoint makes at once. What waits for its place keeps its order of asking; a place is taken for the call alone, and
// not for what is stored before and after it.

export class CallSlots {
  readonly #most: number;
  readonly #endpoints = new Map<string, { busy: number; readonly waiting: (() => void)[] }>();

  constructor(most: number) {
    this.#most = most;
  }

  async use<T>(endpoint: string, call: () => Promise<T>): Promise<T> {
    const of = this.#endpoints.get(endpoint) ?? { busy: 0, waiting: [] };
    this.#endpoints.set(endpoint, of);
    if (of.busy < this.#most) of.busy += 1;
    else await new Promise<void>((resolve) => of.waiting.push(resolve)); // whoever leaves hands its place on
    try {
      return await call();
    } finally {
      const next = of.waiting.shift();
      if (next !== undefined) next();
      else {
        of.busy -= 1;
        if (of.busy === 0) this.#endpoints.delete(endpoint);
      }
    }
  }
}
