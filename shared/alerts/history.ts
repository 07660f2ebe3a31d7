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
}

/** One figure of a sample. */
export interface Reading {
  readonly name: string;
  readonly labels: Labels;
  readonly value: number;
}
