// A unit: the change of one fact, with all that follows from it. A unit is committed as a whole or not at all.
//
//   UNIT-1  A unit is answered only after COMMIT, that is after the sync.
//   UNIT-2  A failed guard (`expect`) or a unique violation rolls back that unit alone and answers `refused`.
//   UNIT-3  Units are the only way to write: stores return statements, services join them to units.
//   UNIT-4  A unit whose fence finds the number of another start changes nothing: `refused`, guard `fence`.

export interface Statement {
  readonly sql: string;
  readonly parameters: readonly unknown[];
  /** Number of rows that must change; another number refuses the unit. Left out: any. */
  readonly expect?: number | undefined;
  /** Named in the answer when this statement refuses the unit. */
  readonly guard?: string | undefined;
  /** The statement has RETURNING: the answer holds its rows. */
  readonly returning?: boolean;
}

export interface Unit {
  /** Name for logs and failpoints, such as `inbox.accept`. */
  readonly name: string;
  /** Guard that runs first: only the start with the right number may write. Its rows are not in the answer. Left out: any start. */
  readonly fence?: Statement | undefined;
  readonly statements: readonly Statement[];
}

export type UnitAnswer =
  | {
      readonly kind: 'committed';
      /** Rows by index of the statement; empty if no statement returned any. */
      readonly rows: readonly (readonly Row[])[];
      /** Highest event position after the commit of the unit's group. */
      readonly head: number;
    }
  | {
      readonly kind: 'refused';
      readonly reason: 'guard' | 'unique' | 'constraint';
      readonly guard: string | undefined;
      readonly detail: string;
    };

export type Row = Readonly<Record<string, unknown>>;

/** The only way to write. */
export interface Writer {
  /**
   * Resolves after the commit, or with `refused`. Rejects with `storage_unavailable` if the store takes no writes; then nothing of the unit is
   * stored.
   */
  commit(unit: Unit): Promise<UnitAnswer>;
  /** Called after each commit that added events. Returns a function that removes the listener. */
  onHead(listener: (head: number) => void): () => void;
}

/** Lets a copy of the database be made of one moment, while units go on. */
export interface SnapshotWriter {
  /**
   * Runs `work` while nothing is committed: all that it reads is of one moment. Units queue meanwhile. After some seconds the hold rejects with
   * `timeout` and units go on; `work` must end by its signal, and commits nothing.
   */
  hold<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T>;
  /**
   * Until the release the writer runs no checkpoint, since a reader keeps an old snapshot: each would sync and copy nothing. Rejects with
   * `conflict` while another pin holds.
   */
  pinLog(limit: { readonly maxBytes: number }): Promise<LogPin>;
}

export interface LogPin {
  /** Aborted with an SvcError if the WAL grew beyond the limit, or a write failed: then no reader may keep the snapshot any longer. */
  readonly lost: AbortSignal;
  release(): Promise<void>;
}

/** Reads on read-only connections: short and keyed, or in pages. */
export interface Reader {
  all<T>(query: {
    compile(): { readonly sql: string; readonly parameters: readonly unknown[] };
    execute(): Promise<T[]>;
  }): Promise<T[]>;
  first<T>(query: {
    compile(): { readonly sql: string; readonly parameters: readonly unknown[] };
    execute(): Promise<T[]>;
  }): Promise<T | undefined>;
}
