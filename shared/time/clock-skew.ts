// How far another machine's clock is from ours, by the Date header of its answer.

/** Clocks that are further apart are worth a warning. */
export const MOST_SKEW_MS = 5_000;
const HEADER_RESOLUTION_MS = 1_000;

export interface ToldTime {
  /** What the other machine said. */
  readonly told: number;
  /** Ours when it was asked, and when the answer was here: it was on its way for a while. */
  readonly askedAt: number;
  readonly answeredAt: number;
}

/** 0 where the time that was told fits between question and answer; a header has whole seconds. */
export const skewMs = ({ told, askedAt, answeredAt }: ToldTime): number =>
  Math.max(0, askedAt - HEADER_RESOLUTION_MS - told, told - answeredAt);
