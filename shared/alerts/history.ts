// Samples of figures over a span, as rules read them.

export type Labels = Readonly<Record<string, string>>;

export interface SampledSeries {
  readonly labels: Labels;
  /** Beside `times` of the history; NaN: there was none. */
  readonly values: ArrayLike<number>;
}

export interface History {
  /** Times of the samples in epoch milliseconds, the oldest first. */
  readonly times: readonly number[];
  /** All series of one name. */
  of(name: string): readonly SampledSeries[];
  /** Names of figures that could not be read for the newest sample. Left out: all could. */
  readonly unread?: ReadonlySet<string>;
}

/** One figure of a sample. */
export interface Reading {
  readonly name: string;
  readonly labels: Labels;
  readonly value: number;
}

/** What was read at one time. */
export interface Sample {
  readonly readings: readonly Reading[];
  /** Names of figures that could not be read. */
  readonly unread: readonly string[];
}
