// Times of this adapter in ms. Tests shorten them.

export interface Timing {
  /** From the opening of a socket to its handshake. */
  readonly handshakeMs: number;
  readonly pingMs: number;
  /** From a call to its answer. */
  readonly callMs: number;
  /** Time for the second of two sockets to arrive after the first. */
  readonly otherHalfMs: number;
  /** Interval of status requests over HTTP. */
  readonly statusMs: number;
  /** Delay before a failed write to the inbox is retried. */
  readonly retryMs: number;
  /** Time to store received events after the connection ended. */
  readonly lastMs: number;
  /** Shortest heartbeat interval that is trusted. */
  readonly leastBeatMs: number;
}

export const TIMING: Timing = {
  handshakeMs: 15_000,
  pingMs: 30_000,
  callMs: 50_000,
  otherHalfMs: 30_000,
  statusMs: 30_000,
  retryMs: 1_000,
  lastMs: 3_000,
  leastBeatMs: 1_000,
};
