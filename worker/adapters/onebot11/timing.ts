// Waits of this adapter; tests shorten them.

export interface Timing {
  /** From opening to the answer. */
  readonly handshakeMs: number;
  readonly pingMs: number;
  /** From a call to its answer. */
  readonly callMs: number;
  /** For the second of two sockets, once the first is there. */
  readonly otherHalfMs: number;
  /** Between two looks at the status over HTTP. */
  readonly statusMs: number;
  /** Before storing again what could not be stored. */
  readonly retryMs: number;
  /** How long what came before the end of a connection is tried to be stored. */
  readonly lastMs: number;
  /** Shortest interval that a heartbeat is believed to have. */
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
