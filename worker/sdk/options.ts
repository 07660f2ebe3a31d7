// Options of every kind of handler.

export interface Options {
  /** Milliseconds until `ctx.signal` aborts and the run's effects are refused. Default 60 000. */
  readonly timeoutMs?: number;
  /** Attempts before an item becomes a dead letter. Default 5. The waits between them are 1 s, 5 s, 30 s and 2 min. */
  readonly attempts?: number;
  /** Former names of the handler, the oldest first. Stored work may still use them. */
  readonly formerly?: readonly string[];
}
