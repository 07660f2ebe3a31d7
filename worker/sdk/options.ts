// What every kind of handler takes.

export interface Options {
  /** Then `ctx.signal` aborts and the unit is refused. Default 60 000. */
  readonly timeoutMs?: number;
  /** How often an item is tried before it is a dead letter, with waits of 1 s, 5 s, 30 s, 2 min between. Default 5. */
  readonly attempts?: number;
  /** Old names under which work may still be stored, the oldest first. */
  readonly formerly?: readonly string[];
}
