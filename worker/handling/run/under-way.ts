// Handlers that run now, of items and of requests to routes of plugins. The list names what a pause of ingress waits for.

export interface HandlerUnderWay {
  readonly handler: string;
  /** The item, or the id of a request to a route. */
  readonly item: string;
  /** Epoch milliseconds. */
  readonly since: number;
}

export class UnderWay {
  readonly #handlers = new Set<HandlerUnderWay>();

  /** The longest first. */
  get handlers(): readonly HandlerUnderWay[] {
    return [...this.#handlers];
  }

  /** Returns its end. */
  begin(handler: HandlerUnderWay): () => void {
    this.#handlers.add(handler);
    return () => void this.#handlers.delete(handler);
  }
}
