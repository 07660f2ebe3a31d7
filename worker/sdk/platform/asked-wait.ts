// Bounds the wait that a platform asks for. A wrong header, or the clock of a proxy, must not silence an account for weeks.

/** The platform is asked again after this time, whatever it said. */
export const MOST_ASKED_WAIT_MS = 3_600_000;

export const askedWaitMs = (ms: number): number => Math.min(ms, MOST_ASKED_WAIT_MS);
