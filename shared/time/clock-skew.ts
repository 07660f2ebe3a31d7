// Measures how far another machine's clock is off, from the Date header of its answer.

/** A larger difference causes a warning. */
export const MOST_SKEW_MS = 5_000;
const HEADER_RESOLUTION_MS = 1_000;

export interface ToldTime {
  /** The other machine's time. */
  readonly told: number;
  /** Our time at the request and at the answer. The other time lies somewhere between. */
  readonly askedAt: number;
  readonly answeredAt: number;
}

/** 0 if the other time fits between request and answer, with the header's resolution of a second. */
export const skewMs = ({ told, askedAt, answeredAt }: ToldTime): number =>
  Math.max(0, askedAt - HEADER_RESOLUTION_MS - told, told - answeredAt);
