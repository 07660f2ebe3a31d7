// A unit: what one fact changes, with all that follows from it. All of it is committed, or none.
//
//   U1  A unit is answered only after COMMIT, that is after the sync.
//   U2  A failed guard (`expect`) or a unique violation takes back that unit alone and answers `refused`.
//   U3  Nothing else writes: stores return statements, services join them to units.
//   U4  A unit whose fence finds its authority gone changes nothing: `refused`, guard `fence` (authority.ts).

export interface Statement {
  readonly sql: string;
  readonly parameters: readonly unknown[];
  /** How many rows must change; another number refuses the unit. Left out: any. */
  readonly expect?: number | undefined;
  /** Named in the answer when this statement refuses the unit. */
  readonly guard?: string | undefined;
  /** The statement has RETURNING: its rows are in the answer. */
  readonly returning?: boolean;
}

export interface Unit {
  /** What it is, for logs and failpoints: `inbox.accept`. */
  readonly name: string;
  /** The authority under which it is written, as a guard that runs before all else; not among the rows of the answer. Left out: anybody's. */
  readonly fence?: Statement | undefined;
  readonly statements: readonly Statement[];
}

export type UnitAnswer =
  | {
      readonly kind: 'committed';
      /** Rows of the statements that return any, by index of the statement; empty when none did. */
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

/** The one way to write. */
export interface Writer {
  /** Resolves after the commit, or with `refused`; rejects with `storage_unavailable` when the store takes no writes (then nothing of it is stored). */
  commit(unit: Unit): Promise<UnitAnswer>;
  /** Called after each commit that moved the head of the event history. Returns how to stop listening. */
  onHead(listener: (head: number) => void): () => void;
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
