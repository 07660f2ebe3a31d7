// Answers stored under an Idempotency-Key: the types that the HTTP interface and the store share.

/** The answer of a change. */
export interface KeptAnswer {
  readonly status: number;
  readonly body: unknown;
  /** Headers of the route itself, such as its ETag. */
  readonly headers: Readonly<Record<string, string | undefined>>;
}

/** A statement that joins the transaction of a change. */
export interface JoinedRow {
  readonly sql: string;
  readonly parameters: readonly unknown[];
}

/** Called with the result of a change when its transaction is built. Returns the rows that store the answer; none without a key. */
export type Keep<T> = (result: T) => readonly JoinedRow[];

/** Stored answers by Idempotency-Key: the same request again gets the same answer. */
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
  /** The rows that `finish` would write, for the transaction of the change itself. So the answer is stored before the client gets it. */
  keeping(key: string, route: string, answer: KeptAnswer): readonly JoinedRow[];
  finish(key: string, route: string, answer: KeptAnswer): Promise<void>;
  /** Frees the key after a request that failed and changed nothing. */
  abandon(key: string, route: string): Promise<void>;
}
