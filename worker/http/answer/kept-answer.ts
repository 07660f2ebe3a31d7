// Answers kept under an Idempotency-Key, as the HTTP interface and the store share them; with `HostApi` of host-api.ts, which it is a part of.

/** What a change has answered. */
export interface KeptAnswer {
  readonly status: number;
  readonly body: unknown;
  /** Those of the route itself: its ETag. */
  readonly headers: Readonly<Record<string, string | undefined>>;
}

/** One more row of a change's own unit. */
export interface JoinedRow {
  readonly sql: string;
  readonly parameters: readonly unknown[];
}

/** Asked for when a change's unit is made, with its result: the rows that keep its answer in that unit. None without a key. */
export type Keep<T> = (result: T) => readonly JoinedRow[];

/** Answers already given under an Idempotency-Key, kept with the state: the same request again gets the same answer. */
export interface IdempotencyStore {
  begin(
    key: string,
    route: string,
    digest: string,
  ): Promise<
    | { readonly kind: 'new' }
    | ({ readonly kind: 'known' } & KeptAnswer)
    | { readonly kind: 'conflict' }
    | { readonly kind: 'running' }
  >;
  /** What `finish` would store, for the unit of the change itself: with that it is there before anybody is answered. */
  keeping(key: string, route: string, answer: KeptAnswer): readonly JoinedRow[];
  finish(key: string, route: string, answer: KeptAnswer): Promise<void>;
  /** The request failed and changed nothing that an answer should be kept for: the key is free again. */
  abandon(key: string, route: string): Promise<void>;
}
